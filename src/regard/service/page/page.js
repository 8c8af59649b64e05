// The page of regard serve: what is typed and chosen makes a view, a view is asked of the server, its answer is drawn.

import { BEAMS, fromHash, toHash } from "./address.js";
import {
  changeAttention,
  drawAttention,
  drawChosen,
  drawClasses,
  drawFacts,
  drawForced,
  drawNotes,
  drawOutput,
  drawPassage,
  drawRivals,
  kindOf,
  light,
} from "./answer.js";
import { ask } from "./api.js";
import { find, percent, shown } from "./dom.js";
import { asSource, drawPreview, listenForFiles } from "./file.js";
import { describe, fill, invite, offer } from "./form.js";
import { chooseFrom } from "./menu.js";
import { fileName, save } from "./saving.js";
import { glimpse, see } from "./seeing.js";
import { askToken } from "./token.js";
import { calm, complain, wait } from "./trouble.js";

const TYPING = 300; // milliseconds without a key before what was typed is asked
const CHOICES = 50; // symbols offered in the place of one
const FORMATS = [
  { value: "svg", label: "SVG", detail: "drawing" },
  { value: "png", label: "PNG", detail: "picture" },
  { value: "pdf", label: "PDF", detail: "print" },
  { value: "gif", label: "GIF", detail: "word after word" },
  { value: "html", label: "HTML", detail: "interactive, one file" },
  { value: "json", label: "JSON", detail: "numbers" },
];

let view = fromHash(location.hash);
view.source ||= find("source").value; // typed before this script was there
let models = [];
let widest = 1; // beam, by the server's limits
let most = 0; // bytes of a file, by the same
let file = null; // what a run that looks is asked about; addresses do not hold it
let sent = ""; // the same, as a question carries it
let images = []; // addresses of what such a run sees of it
let rivals = []; // the answers to the view, best first
let asking = new AbortController(); // the request of the newest view; older ones are called off
let typing = 0; // timer

// ---- asking

/** One request at a time: a new one calls the old one off, so a slow answer never overwrites a later one. */
async function answer(focus = null) {
  clearTimeout(typing);
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  keep();
  if (!models.length) return; // adopt() asks once they are there
  calm();
  if (!complete()) return clear();
  find("result").setAttribute("aria-busy", "true");
  try {
    const found = await predictions(signal);
    const seen = model().looks ? await see(file, model().looks, found[0].frames) : [];
    signal.throwIfAborted();
    [rivals, images] = [found, seen];
    view.pick = Math.min(view.pick, rivals.length - 1);
    draw();
    focus?.();
  } catch (error) {
    if (!signal.aborted) find("result").hidden = true; // it answers another question
    complain(error, () => answer(focus));
  }
  if (!signal.aborted) find("result").removeAttribute("aria-busy");
}

/** Whether there is a question yet. */
function complete() {
  if (!model().looks) return Boolean(view.source.trim());
  return Boolean(file && (!model().features || view.features.trim()));
}

async function predictions(signal) {
  const where = asked();
  const [path, body] = view.ended
    ? ["v1/force", { ...where, target: view.forced }]
    : ["v1/predict", model().writes ? { ...where, beam: view.beam, nbest: view.beam, prefix: view.forced } : where];
  const { predictions } = await json(path, body, signal);
  return predictions[0].nbest?.length ? predictions[0].nbest : predictions;
}

function asked() {
  const where = { model: view.model, source: model().looks ? sent : view.source };
  return model().features ? { ...where, features: view.features } : where;
}

const model = () => models.find((one) => one.name === view.model);

async function fetched(path, body, signal) {
  const response = await ask(path, body, { signal, onToken: askToken, onWait: wait });
  calm();
  return response;
}

const json = async (path, body, signal) => (await fetched(path, body, signal)).json();

// ---- drawing

function draw() {
  find("empty").hidden = true;
  find("result").hidden = false;
  find("result").inert = false;
  drawForced(view.forced, view.ended);
  drawRivals(rivals, view.pick);
  drawPicked();
}

function drawPicked() {
  const picked = rivals[view.pick];
  if (model().writes) drawOutput(picked, view.forced.length, view.ended);
  else drawChosen(picked);
  drawClasses(picked);
  drawPassage(picked);
  drawFacts(picked);
  drawNotes(picked);
  drawAttention(picked, view, images, model().looks?.line);
  say();
}

function clear() {
  rivals = [];
  find("result").hidden = true;
  find("result").removeAttribute("aria-busy");
  find("empty").textContent = invite(model(), file);
  find("empty").hidden = false;
  find("said").textContent = "";
}

function say() {
  const others = rivals.length > 1 ? `, answer ${view.pick + 1} of ${rivals.length}` : "";
  find("said").textContent = `Output: ${rivals[view.pick].output || "empty"}${others}`;
}

// ---- what is typed and chosen

function keep() {
  history.replaceState(null, "", toHash(view));
}

/** Another question: nothing forced and no pick of the old answer makes sense for it. */
function change(changes) {
  view = { ...view, forced: [], ended: false, pick: 0, ...changes };
}

function show(pick) {
  view.pick = pick;
  keep();
  drawPicked();
}

/** The menu of what could stand in one place of the output; choosing forces everything up to there. */
async function replace(place) {
  const button = find("output").querySelector(`[data-place="${place}"]`);
  if (!button) return;
  button.scrollIntoView({ block: "nearest" }); // it may have been chosen in the picture, further down
  const before = rivals[view.pick].output_tokens.slice(0, place);
  try {
    const title = "Another symbol, with its probability here";
    const symbol = await chooseFrom(button, title, choices(before, rivals[view.pick].output_tokens[place] ?? ""));
    if (symbol === null) return;
    const forced = symbol === "" ? { forced: before, ended: true } : { forced: [...before, symbol], ended: false };
    change(forced);
    await answer(() => find("output").querySelector(`[data-place="${place}"]`)?.focus());
  } catch (error) {
    complain(error, () => replace(place));
  }
}

async function choices(prefix, current) {
  const { choices } = await json("v1/choices", { ...asked(), prefix, count: CHOICES }, asking.signal);
  return choices.map(({ symbol, probability }) => ({
    value: symbol,
    label: symbol === "" ? "end here" : shown(symbol),
    detail: percent(probability),
    share: probability,
    chosen: symbol === current,
    faint: symbol === "",
  }));
}

/** Another file: read here, and then asked about. */
async function take(found) {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  find("result").inert = true; // as when something else is typed
  calm();
  try {
    const source = await asSource(found, model().looks, most);
    signal.throwIfAborted();
    [file, sent] = [found, source];
    change({});
    preview();
    answer();
  } catch (error) {
    if (!signal.aborted) find("result").hidden = true;
    complain(error, () => take(found));
  }
}

async function preview() {
  const [shown, { looks }] = [file, model()];
  const url = shown && looks ? await glimpse(shown, looks) : "";
  if (shown === file) drawPreview(url, shown?.name);
}

async function download() {
  try {
    const moves = rivals[view.pick].grid; // word after word, over a picture
    const formats = FORMATS.filter(({ value }) => value !== "gif" || moves);
    const format = await chooseFrom(find("download"), "Format of the picture", formats);
    if (format === null) return;
    const still = ["png", "pdf"].includes(format) && kindOf(view) === "animation";
    const kind = still ? "auto" : kindOf(view);
    const given = model().writes ? { target: rivals[view.pick].output_tokens } : {};
    const body = { ...asked(), ...given, format, kind };
    const response = await fetched("v1/picture", body, asking.signal);
    const name = model().looks ? file.name.replace(/\.\w+$/, "") : view.source;
    save(await response.blob(), `${fileName(name)}.${format}`);
  } catch (error) {
    complain(error, download);
  }
}

// ---- at the start

async function start() {
  calm();
  try {
    const told = await json("v1/models", null, null);
    models = told.models;
    widest = Math.min(told.beam, told.nbest);
    most = told.picture;
  } catch (error) {
    return complain(error, start);
  }
  offer(models, widest);
  adopt(view);
}

function adopt(other) {
  view = other;
  if (!models.length) return;
  if (!model()) view.model = models[0].name;
  if (view.beam > widest) view.beam = BEAMS.findLast((beam) => beam <= widest);
  describe(model());
  preview();
  fill(view);
  answer();
}

function typed() {
  change({ source: find("source").value, features: find("features").value });
  find("result").inert = true; // it answers another question: nothing in it can be chosen any more
  clearTimeout(typing);
  typing = setTimeout(answer, TYPING);
}

function listen(id, event, handle) {
  find(id).addEventListener(event, handle);
}

listen("source", "input", typed);
listen("features", "input", typed);
listen("source", "keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  find("ask").requestSubmit();
});
listen("ask", "submit", (event) => {
  event.preventDefault();
  answer();
});
listen("model", "change", () => {
  change({ model: find("model").value });
  describe(model());
  preview();
  answer();
});
listen("beam", "change", () => {
  view = { ...view, beam: Number(find("beam").value), pick: 0 };
  answer();
});
listen("nbest", "change", (event) => show(Number(event.target.value)));
listen("output", "click", (event) => {
  const button = event.target.closest("button");
  if (button) replace(Number(button.dataset.place));
});
for (const [event, on] of [["pointerover", true], ["focusin", true], ["pointerout", false], ["focusout", false]])
  listen("output", event, ({ target }) => {
    const button = target.closest("button");
    const open = button?.getAttribute("aria-expanded") === "true"; // whoever chooses another symbol still wants to see
    if (button && (on || !open)) light(Number(button.dataset.place), on);
  });
listen("viewer", "regard:row", (event) => {
  if (!model().looks) replace(event.detail.row); // over a picture a click shows where, and stays there
});
listen("unforce", "click", () => {
  change({});
  answer(() => find(model().looks ? "file" : "source").focus());
});
listen("kinds", "change", (event) => {
  view.kind = event.target.value;
  keep();
  changeAttention(view);
});
listen("threshold", "input", () => {
  view.threshold = Number(find("threshold").value);
  find("threshold-shown").textContent = view.threshold.toFixed(2);
  keep();
  changeAttention(view);
});
listen("download", "click", download);
listenForFiles(() => Boolean(model()?.looks), take);
window.addEventListener("hashchange", () => adopt(fromHash(location.hash)));

start();
