// One answer drawn: its symbols, its numbers, what is to be said about it, its rivals and its attention.

import { digits, element, find, percent, shown } from "./dom.js";

const MOST = 10; // classes shown
const LONG = 40; // tokens

let viewers = []; // of the answer that is drawn, and of its further weights
let kinds = []; // in which it can be drawn, the one that suits it first

/** The symbols as buttons, and a last one for the end of the answer. */
export function drawOutput(answer, forced, ended) {
  const symbols = answer.output_tokens.map((symbol, place) => word(shown(symbol), place, place < forced));
  const end = word("end", answer.output_tokens.length, ended);
  end.firstChild.classList.add("end");
  end.firstChild.setAttribute("aria-label", "end of the answer");
  find("output").replaceChildren(...symbols, ...(answer.finished === false ? [] : [end]));
  find("output-hint").hidden = false;
}

/** An answer that was chosen or pointed at, not written: no symbol of it can be put into the place of another. */
export function drawChosen(answer) {
  find("output").replaceChildren(element("li", { className: "chosen" }, answer.output || "∅"));
  find("output-hint").hidden = true;
}

/** A bar for each class, likeliest first. */
export function drawClasses(answer) {
  const sure = ([, one], [, other]) => other - one; // of an object, numbers would come first: classes may be called 1, 2, 3
  const classes = Object.entries(answer.probabilities ?? {}).sort(sure).slice(0, MOST);
  find("classes").hidden = !classes.length;
  find("classes").replaceChildren(...classes.map(([name, share]) => bar(name, share)));
}

function bar(name, share) {
  const length = element("span", { className: "length" });
  length.style.setProperty("--share", `${(100 * share).toFixed(2)}%`);
  const label = element("bdi", { className: "name" }, shown(name));
  return element("li", {}, label, element("span", { className: "track" }, length), element("span", { className: "share" }, percent(share)));
}

/** The source, with the answer marked where it stands; the span counts characters, not UTF-16 units. */
export function drawPassage({ source, span }) {
  find("passage").hidden = !span;
  if (!span) return;
  const letters = Array.from(source);
  const part = (begin, end) => letters.slice(begin, end).join("");
  find("passage").replaceChildren(part(0, span[0]), element("mark", {}, part(...span)), part(span[1]));
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
    ...(answer.probabilities ? [] : [["score", digits(answer.score)]]),
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
    answer.left_out && [`The source is longer than this run reads: its last ${answer.left_out} symbols were left out.`],
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

/** `images` are addresses of what was looked at, of a picture or of each frame. */
export function drawAttention(answer, view, images = [], line = false) {
  const blind = blindness(answer);
  for (const id of ["kinds", "threshold-field", "download", "viewer"]) find(id).hidden = Boolean(blind);
  find("blind").hidden = !blind;
  find("blind").textContent = blind;
  find("viewer").replaceChildren();
  find("looks").replaceChildren();
  viewers = [];
  if (blind) return;
  const panel = { ...panelOf(answer), scene: sceneOf(answer, images, line) };
  kinds = window.regardViewer.kinds(panel).filter((kind) => tells(kind, panel.scene));
  for (const one of find("kinds").querySelectorAll("input")) one.parentElement.hidden = !kinds.includes(one.value);
  find("kinds").querySelector(`[value=${kindOf(view) === "auto" ? kinds[0] : kindOf(view)}]`).checked = true;
  viewers = [window.regardViewer(find("viewer"), panel, options(view)), ...(answer.looks ?? []).map((look) => drawLook(look, view))];
  if (panel.scene && panel.rows.length === 1) light(0, true); // there is nothing else to point at
}

/** The kind that is drawn: one that was chosen for another answer may make no sense of this one. */
export const kindOf = ({ kind }) => (kinds.includes(kind) ? kind : "auto");

/** Names of cells make no legible text, and only a line of writing has places for symbols. */
const tells = (kind, scene) => !scene || !(["lines", "text"].includes(kind) || (kind === "places" && !scene.line));

/** What was looked at, where that is no text; a clip whose frames cannot be shown is a map. */
function sceneOf({ grid, frames }, images, line) {
  if (grid) return { grid, images, line };
  return frames && images.length === frames ? { frames, images } : null;
}

/** Shows in the picture what a symbol of the output looked at, as if it were pointed at there; or ends that. */
export function light(place, on) {
  const label = find("viewer").querySelector(`.label[data-side=row][data-number="${place}"]`);
  label?.dispatchEvent(new PointerEvent(on ? "pointerover" : "pointerout", { bubbles: true }));
}

/** As `Prediction.panel` makes it: a written answer is a map; what one row looked at for a chosen one, or a long source,
    is a text of one line. */
function panelOf(answer) {
  const rows = rowsOf(answer);
  const columns = answer.source_tokens;
  const chosen = answer.probabilities || answer.span;
  const text = chosen && (rows.length === 1 || columns.length > LONG);
  const lines = answer.lines ?? (text ? [columns.length] : []);
  const kind = chosen ? "" : "map";
  const sides = rows.length === 1 ? (answer.line_weights ?? []) : []; // of several rows they are a mean, which none has
  const axes = answer.axes ?? (answer.attention_rows ? ["", "source"] : ["output", "source"]);
  return { title: "", rows, columns, weights: answer.attention, marked: answer.copied ?? [], lines, sides, kind, axes };
}

const rowsOf = (answer) => answer.attention_rows ?? answer.output_tokens;

function drawLook({ name, rows, columns, weights, axes = ["", ""] }, view) {
  const place = element("div");
  find("looks").append(element("figure", { className: "viewer" }, element("figcaption", {}, name), place));
  const panel = { title: "", rows, columns, weights, marked: [], axes };
  return window.regardViewer(place, panel, options({ ...view, kind: "auto" }));
}

export function changeAttention(view) {
  viewers.forEach((one, place) => one.update(options(place ? { ...view, kind: "auto" } : view)));
}

/** A threshold of 0 leaves it to the viewer, which draws no hair-thin lines. */
function options(view) {
  return { kind: kindOf(view), threshold: view.threshold || null };
}

function blindness(answer) {
  if (!answer.attention)
    return "This run has no attention: it reads the whole source into one vector before it writes, so there is no picture of where it looked.";
  return rowsOf(answer).length ? "" : "The answer is empty, so there is nothing to look at.";
}
