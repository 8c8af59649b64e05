// Elements from data, as text only: nothing that comes from a request or a run is ever read as HTML.

export const find = (id) => document.getElementById(id);

/** An element with these properties (names with a dash and roles are attributes) and children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

/** A symbol as one can see it: blanks and lone marks too. */
export function shown(symbol) {
  if (symbol === "") return "∅";
  const visible = symbol.replace(/\p{Zs}/gu, "␣").replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "�");
  return /^\p{M}/u.test(visible) ? `◌${visible}` : visible;
}

const minus = (text) => text.replace("-", "−");

/** Three digits: enough to compare, few enough to read. */
export const digits = (value) => minus(value.toPrecision(3));

export function percent(share) {
  if (share >= 0.9995) return "100 %";
  return share < 0.001 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;
}
