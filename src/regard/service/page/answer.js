// One answer drawn: its symbols, its numbers, what is to be said about it, its rivals and its attention.

import { digits, element, find, percent, shown } from "./dom.js";

let viewer = null; // of the answer that is drawn

/** The symbols as buttons, and a last one for the end of the answer. */
export function drawOutput(answer, forced, ended) {
  const symbols = answer.output_tokens.map((symbol, place) => word(shown(symbol), place, place < forced));
  const end = word("end", answer.output_tokens.length, ended);
  end.firstChild.classList.add("end");
  end.firstChild.setAttribute("aria-label", "end of the answer");
  find("output").replaceChildren(...symbols, ...(answer.finished === false ? [] : [end]));
}

function word(text, place, forced) {
  const button = element("button", { type: "button", "aria-haspopup": "menu", "aria-expanded": "false" }, text);
  button.dataset.place = place;
  button.classList.toggle("forced", forced);
  return element("li", {}, button);
}

export function drawFacts(answer) {
  const facts = [
    ["probability", percent(Math.exp(answer.log_probability))],
    ["log probability", digits(answer.log_probability)],
    ["score", digits(answer.score)],
  ];
  find("facts").replaceChildren(
    ...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
  );
}

export function drawNotes(answer) {
  const unknown = (answer.unknown ?? []).map(shown);
  const notes = [
    unknown.length && ["Never seen in training, read as unknown: ", ...apart(unknown), "."],
    answer.finished === false && ["It reached the length limit before it wrote an end."],
  ];
  find("notes").replaceChildren(...notes.filter(Boolean).map((note) => element("li", {}, ...note)));
}

function apart(symbols) {
  return symbols.flatMap((symbol, place) => [place ? ", " : "", element("bdi", { className: "symbol" }, symbol)]);
}

export function drawForced(forced, ended) {
  find("forced").hidden = !(forced.length || ended);
  find("forced-text").textContent = [...forced.map(shown), ...(ended ? ["(end)"] : [])].join(" ");
}

/** Radio buttons, so that arrow keys walk through the answers. */
export function drawRivals(rivals, pick) {
  const legend = find("nbest").querySelector("legend");
  find("nbest").replaceChildren(legend, ...rivals.map((rival, place) => candidate(rival, place, pick)));
  find("candidates").hidden = rivals.length < 2;
}

function candidate(rival, place, pick) {
  const button = element("input", { type: "radio", name: "pick", value: place, checked: place === pick });
  const text = element("span", { className: "text", dir: "auto" }, rival.output || "∅");
  const numbers = `${percent(Math.exp(rival.log_probability))} · score ${digits(rival.score)}`;
  const body = element("span", { className: "body" }, text, element("span", { className: "numbers" }, numbers));
  return element("label", { className: "candidate" }, button, body);
}

export function drawAttention(answer, view) {
  const blind = blindness(answer);
  for (const id of ["kinds", "threshold-field", "download", "viewer"]) find(id).hidden = Boolean(blind);
  find("blind").hidden = !blind;
  find("blind").textContent = blind;
  find("viewer").replaceChildren();
  viewer = null;
  if (blind) return;
  const panel = { title: "", rows: answer.output_tokens, columns: answer.source_tokens, weights: answer.attention, marked: [] };
  viewer = window.regardViewer(find("viewer"), panel, options(view));
}

export function changeAttention(view) {
  viewer?.update(options(view));
}

/** A threshold of 0 leaves it to the viewer, which draws no hair-thin lines. */
function options({ kind, threshold }) {
  return { kind, threshold: threshold || null };
}

function blindness(answer) {
  if (!answer.attention)
    return "This run has no attention: it reads the whole source into one vector before it writes, so there is no picture of where it looked.";
  return answer.output_tokens.length ? "" : "The answer is empty, so there is nothing to look at.";
}
