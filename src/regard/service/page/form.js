// The form above the answer: what it holds and what it says about the run.

import { BEAMS } from "./address.js";
import { element, find } from "./dom.js";

const SOURCES = { translate: "a sentence", inflect: "a lemma", pronounce: "a word", transliterate: "a name" };
const ACCEPT = { picture: "image/png,image/jpeg,image/tiff,image/webp,image/gif", clip: "video/*,image/gif,image/webp,.avi,.mkv" };
const BESIDE = { features: "V;PST;3;SG" }; // what is read beside a source, by an example

/** What can be chosen, once the server has told which runs there are and how wide a beam may be. */
export function offer(models, widest) {
  find("model").replaceChildren(...models.map(({ name }) => element("option", { value: name }, name)));
  find("beam").replaceChildren(...BEAMS.filter((beam) => beam <= widest).map((beam) => element("option", { value: beam }, beam === 1 ? "1 (greedy)" : beam)));
  find("model").disabled = false;
}

/** The form as a view has it. */
export function fill(view) {
  find("model").value = view.model;
  find("source").value = view.source;
  find("features").value = view.features;
  find("beam").value = view.beam;
  find("threshold").value = view.threshold;
  find("threshold-shown").textContent = view.threshold.toFixed(2);
}

export function describe({ task, weights, longest, exported, features, beside, writes, looks }) {
  find("source-field").hidden = Boolean(looks);
  find("file-field").hidden = !looks;
  find("file-name").textContent = looks?.kind === "clip" ? "Clip" : "Picture";
  find("file").accept = ACCEPT[looks?.kind] ?? "";
  find("features-field").hidden = !features;
  find("features-name").textContent = beside.charAt(0).toUpperCase() + beside.slice(1);
  find("features").placeholder = BESIDE[beside] ?? `a ${beside}`;
  find("beam-field").hidden = !writes;
  find("source").placeholder = SOURCES[task] ?? "a source";
  const count = new Intl.NumberFormat("en");
  const size = weights === null ? "" : `${count.format(weights)} weights`;
  const most = looks?.kind === "clip" ? `up to ${looks.frames} frames` : looks ? `${looks.size} pixels` : `up to ${count.format(longest)} symbols`;
  const about = [task, size, most, exported ? "exported" : ""];
  find("about").textContent = about.filter(Boolean).join(" · ");
}

/** What to do first, while there is no answer. */
export function invite({ looks, features, beside }, file) {
  const after = "and below it where the model looked while it wrote each symbol.";
  if (!looks) return `Type a source above. The output appears here, ${after}`;
  if (file && features) return `Give a ${beside} too.`;
  const one = looks.kind === "clip" ? "clip" : "picture";
  return `Choose a ${one} above, or drop or paste one anywhere on this page. The output appears here, and below it where the model looked.`;
}
