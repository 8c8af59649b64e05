// One menu at a time, hung below its button: arrow keys, Home and End, first letters, Enter, Escape.

import { element } from "./dom.js";

let open = null; // {menu, button}

/**
 * Shows the items below a button and resolves to the chosen item's value, or to null when none was chosen.
 * `items` = [{value, label, detail, share, chosen}], or a promise of them; share (0…1) draws a bar behind the label.
 */
export async function chooseFrom(button, title, items) {
  close();
  const menu = element("div", { role: "menu", "aria-label": title, className: "menu", tabIndex: -1 });
  menu.append(element("p", { className: "faint hint", role: "presentation" }, "…"));
  button.setAttribute("aria-expanded", "true");
  document.body.append(menu);
  open = { menu, button };
  place(menu, button);
  menu.focus({ preventScroll: true });
  const choice = chosen(menu);
  try {
    fill(menu, await items);
  } catch (error) {
    if (open?.menu === menu) close();
    throw error;
  }
  if (open?.menu === menu) {
    place(menu, button);
    (menu.querySelector("[aria-checked=true]") ?? menu.firstElementChild)?.focus();
  }
  return choice;
}

function fill(menu, items) {
  menu.replaceChildren(...items.map(entry));
}

function entry(item) {
  const role = item.chosen === undefined ? "menuitem" : "menuitemradio";
  const button = element("button", { type: "button", role, tabIndex: -1, className: item.faint ? "faint" : "" });
  if (item.chosen !== undefined) button.setAttribute("aria-checked", String(item.chosen));
  if (item.share !== undefined) {
    const bar = element("span", { className: "bar", ariaHidden: "true" });
    bar.style.width = `${100 * item.share}%`;
    button.append(bar);
  }
  button.append(element("span", { className: "label", dir: "auto" }, item.label));
  button.append(element("span", { className: "detail" }, item.detail ?? ""));
  button.value = item.value;
  return button;
}

/** Settles once: by a click or Enter, by Escape or Tab, by a click elsewhere, or when another menu opens. */
function chosen(menu) {
  return new Promise((resolve) => {
    menu.addEventListener("click", (event) => {
      const item = event.target.closest("button");
      if (item) close(() => resolve(item.value));
    });
    menu.addEventListener("keydown", (event) => {
      if (event.key === "Escape" || event.key === "Tab") {
        event.preventDefault();
        close();
      } else walk(menu, event);
    });
    menu.addEventListener("regard:closed", () => resolve(null), { once: true });
  });
}

function walk(menu, event) {
  const items = [...menu.querySelectorAll("button")];
  const here = items.indexOf(document.activeElement);
  const last = items.length - 1;
  const places = { ArrowDown: here < last ? here + 1 : 0, ArrowUp: here > 0 ? here - 1 : last, Home: 0, End: last };
  let next = places[event.key];
  if (next === undefined && event.key.length === 1 && event.key !== " ") {
    const after = [...items.keys()].map((place) => (here + 1 + place) % items.length);
    next = after.find((place) => items[place].textContent.toLowerCase().startsWith(event.key.toLowerCase()));
  }
  if (next === undefined) return;
  event.preventDefault();
  items[next]?.focus();
}

/** Below the button, or above it where there is more room; never beyond the edge of the window. */
function place(menu, button) {
  const room = button.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  const below = window.innerHeight - room.bottom > Math.min(menu.offsetHeight, room.top) + 16;
  const left = Math.max(8, Math.min(room.left, width - menu.offsetWidth - 8));
  menu.style.left = `${left + window.scrollX}px`;
  menu.style.top = `${(below ? room.bottom + 6 : room.top - menu.offsetHeight - 6) + window.scrollY}px`;
}

function close(settle = () => {}) {
  if (!open) return;
  const { menu, button } = open;
  open = null;
  button.setAttribute("aria-expanded", "false");
  settle();
  menu.dispatchEvent(new Event("regard:closed"));
  if (menu.contains(document.activeElement)) button.focus({ preventScroll: true });
  menu.remove();
}

document.addEventListener("pointerdown", (event) => {
  if (open && !open.menu.contains(event.target)) close();
});
window.addEventListener("resize", () => close());
