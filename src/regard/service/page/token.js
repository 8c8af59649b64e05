// The dialog that asks for the server's token.

import { find } from "./dom.js";

let asked = null; // one dialog, however many requests wait for it

/** Resolves to the token, or to null when none is given. */
export function askToken(reason) {
  asked ??= new Promise((resolve) => {
    const dialog = find("token-dialog");
    find("token").value = "";
    find("token-reason").textContent = reason;
    dialog.returnValue = "cancel";
    dialog.addEventListener("close", () => {
      asked = null;
      resolve(dialog.returnValue === "use" ? find("token").value.trim() : null);
      find("token").value = "";
    }, { once: true });
    dialog.showModal();
  });
  return asked;
}
