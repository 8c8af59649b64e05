// What goes wrong, and what is waited for, told above the answer.

import { Trouble } from "./api.js";
import { element, find } from "./dom.js";

export function calm() {
  find("trouble").hidden = true;
  find("trouble").replaceChildren();
  find("waiting").hidden = true;
}

/** In words, with the way out; called-off requests are no trouble. */
export function complain(error, again) {
  if (error.name === "AbortError") return;
  if (!(error instanceof Trouble)) console.error(error);
  const retry = element("button", { type: "button" }, "Try again");
  retry.addEventListener("click", again);
  const known = error instanceof Trouble ? error : new Trouble("Something went wrong on this page.", { fix: String(error) });
  const lines = [["message", known.message], ["fix", known.fix], ["faint small", known.request && `request ${known.request}`]];
  const said = lines.filter(([, text]) => text).map(([className, text]) => element("p", { className }, text));
  find("empty").hidden = true;
  find("waiting").hidden = true;
  find("trouble").replaceChildren(...said, retry);
  find("trouble").hidden = false;
}

export function wait(seconds) {
  find("waiting").textContent = `The server is busy; asking again in ${seconds} s.`;
  find("waiting").hidden = false;
}
