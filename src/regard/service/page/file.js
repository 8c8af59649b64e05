// A picture or clip that somebody chooses, drops or pastes. It leaves the page only as part of a question.

import { Trouble } from "./api.js";
import { element, find } from "./dom.js";

const TYPE = /^(image|video)\/[a-z0-9.+-]{1,40}/i;
const amount = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** `take` is handed each file, once `wanted()` says that the run looks at some. */
export function listenForFiles(wanted, take) {
  const some = (transfer) => wanted() && transfer?.types.includes("Files");
  const light = (on) => find("ask").classList.toggle("dropping", on);
  const receive = (event, { files }) => {
    if (!files.length) return;
    event.preventDefault();
    find("file").files = files;
    take(files[0]);
  };
  find("file").addEventListener("change", () => find("file").files.length && take(find("file").files[0]));
  document.addEventListener("dragover", (event) => {
    if (!some(event.dataTransfer)) return;
    event.preventDefault(); // else the browser would open the file in place of this page
    light(true);
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget || light(false));
  document.addEventListener("drop", (event) => {
    light(false);
    if (some(event.dataTransfer)) receive(event, event.dataTransfer);
  });
  document.addEventListener("paste", (event) => some(event.clipboardData) && receive(event, event.clipboardData));
}

/** The file as a question carries it. */
export async function asSource(file, { kind }, most) {
  if (!file.size) throw new Trouble("The file is empty.", { fix: "Was it copied or downloaded as a whole?" });
  if (file.size > most)
    throw new Trouble(`The file has ${amount(file.size)}, this server takes at most ${amount(most)}.`, { fix: "Make it smaller, or serve with a larger --picture." });
  const type = TYPE.exec(file.type)?.[0] ?? (kind === "clip" ? "video/unknown" : "image/unknown");
  const url = await read(file);
  return `data:${type};base64,${url.slice(url.indexOf(",") + 1)}`;
}

function read(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result));
    reader.addEventListener("error", () => reject(new Trouble("The file cannot be read.", { fix: "Was it moved or deleted? Choose it again." })));
    reader.readAsDataURL(file);
  });
}

export function drawPreview(url, name) {
  find("preview").hidden = !url;
  find("preview").replaceChildren(...(url ? [element("img", { src: url, alt: name })] : []));
}
