// The page of regard serve: what is typed and chosen makes a view, a view is asked of the server, its answer is drawn.

import { BEAMS, fromHash, toHash } from "./address.js";
import { changeAttention, drawAttention, drawFacts, drawForced, drawNotes, drawOutput, drawRivals } from "./answer.js";
import { Trouble, ask } from "./api.js";
import { element, find, percent, shown } from "./dom.js";
import { chooseFrom } from "./menu.js";

const TYPING = 300; // milliseconds without a key before what was typed is asked
const CHOICES = 50; // symbols offered in the place of one
const SOURCES = { translate: "a sentence", inflect: "a lemma", pronounce: "a word", transliterate: "a name" };
const FORMATS = [
  { value: "svg", label: "SVG", detail: "drawing" },
  { value: "png", label: "PNG", detail: "picture" },
  { value: "pdf", label: "PDF", detail: "print" },
  { value: "html", label: "HTML", detail: "interactive, one file" },
  { value: "json", label: "JSON", detail: "numbers" },
];

let view = fromHash(location.hash);
let models = [];
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
  calm();
  if (!view.source.trim()) return clear();
  find("result").setAttribute("aria-busy", "true");
  try {
    const found = await predictions(signal);
    signal.throwIfAborted();
    rivals = found;
    view.pick = Math.min(view.pick, rivals.length - 1);
    draw();
    say();
    focus?.();
  } catch (error) {
    if (!signal.aborted) find("result").hidden = true; // it answers another question
    complain(error, () => answer(focus));
  }
  if (!signal.aborted) find("result").removeAttribute("aria-busy");
}

async function predictions(signal) {
  const where = asked();
  const [path, body] = view.ended
    ? ["v1/force", { ...where, target: view.forced }]
    : ["v1/predict", { ...where, beam: view.beam, nbest: view.beam, prefix: view.forced }];
  const { predictions } = await json(path, body, signal);
  return predictions[0].nbest?.length ? predictions[0].nbest : predictions;
}

function asked() {
  const where = { model: view.model, source: view.source };
  return model()?.features ? { ...where, features: view.features } : where;
}

const model = () => models.find((one) => one.name === view.model);

async function json(path, body, signal) {
  const response = await ask(path, body, { signal, onToken: askToken, onWait: wait });
  calm();
  return response.json();
}

// ---- drawing

function draw() {
  const shownOne = rivals[view.pick];
  find("empty").hidden = true;
  find("result").hidden = false;
  drawOutput(shownOne, view.forced.length, view.ended);
  drawForced(view.forced, view.ended);
  drawFacts(shownOne);
  drawNotes(shownOne);
  drawAttention(shownOne, view);
  drawRivals(rivals, view.pick);
}

function clear() {
  rivals = [];
  find("result").hidden = true;
  find("result").removeAttribute("aria-busy");
  find("empty").hidden = false;
  find("said").textContent = "";
}

function say() {
  const others = rivals.length > 1 ? `, answer ${view.pick + 1} of ${rivals.length}` : "";
  find("said").textContent = `Output: ${rivals[view.pick].output || "empty"}${others}`;
}

function calm() {
  find("trouble").hidden = true;
  find("trouble").replaceChildren();
  find("waiting").hidden = true;
}

/** In words, with the way out; called-off requests are no trouble. */
function complain(error, again) {
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

function wait(seconds) {
  find("waiting").textContent = `The server is busy; asking again in ${seconds} s.`;
  find("waiting").hidden = false;
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
  drawOutput(rivals[pick], view.forced.length, view.ended);
  drawFacts(rivals[pick]);
  drawNotes(rivals[pick]);
  drawAttention(rivals[pick], view);
  say();
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

async function download() {
  try {
    const format = await chooseFrom(find("download"), "Format of the picture", FORMATS);
    if (format === null) return;
    const body = { ...asked(), target: rivals[view.pick].output_tokens, format, kind: view.kind };
    const response = await ask("v1/picture", body, { signal: asking.signal, onToken: askToken, onWait: wait });
    calm();
    save(await response.blob(), `${fileName(view.source)}.${format}`);
  } catch (error) {
    complain(error, download);
  }
}

function fileName(source) {
  return source.replace(/[^\p{L}\p{M}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 40) || "attention";
}

function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// ---- the token

let tokenAsked = null; // one dialog, however many requests wait for it

function askToken(reason) {
  tokenAsked ??= new Promise((resolve) => {
    const dialog = find("token-dialog");
    find("token").value = "";
    find("token-reason").textContent = reason;
    dialog.returnValue = "cancel";
    dialog.addEventListener("close", () => {
      tokenAsked = null;
      resolve(dialog.returnValue === "use" ? find("token").value.trim() : null);
      find("token").value = "";
    }, { once: true });
    dialog.showModal();
  });
  return tokenAsked;
}

// ---- at the start

/** The form as the view has it. */
function fillForm() {
  find("model").value = view.model;
  find("source").value = view.source;
  find("features").value = view.features;
  find("beam").value = view.beam;
  find("kinds").querySelector(`[value=${view.kind}]`).checked = true;
  find("threshold").value = view.threshold;
  find("threshold-shown").textContent = view.threshold.toFixed(2);
  describe();
}

function describe() {
  const { task, weights, longest, exported, features } = model() ?? {};
  find("features-field").hidden = !features;
  if (!task) return;
  find("source").placeholder = SOURCES[task] ?? "a source";
  const count = new Intl.NumberFormat("en");
  const size = weights === null ? "" : `${count.format(weights)} weights`;
  const about = [task, size, `up to ${count.format(longest)} symbols`, exported ? "exported" : ""];
  find("about").textContent = about.filter(Boolean).join(" · ");
}

async function start() {
  calm();
  try {
    ({ models } = await json("v1/models", null, null));
  } catch (error) {
    return complain(error, start);
  }
  find("model").replaceChildren(...models.map(({ name }) => element("option", { value: name }, name)));
  find("model").disabled = false;
  adopt(fromHash(location.hash));
}

function adopt(other) {
  view = other;
  if (!model()) view.model = models[0]?.name ?? "";
  fillForm();
  answer();
}

function typed() {
  change({ source: find("source").value, features: find("features").value });
  clearTimeout(typing);
  typing = setTimeout(answer, TYPING);
}

function listen(id, event, handle) {
  find(id).addEventListener(event, handle);
}

find("beam").replaceChildren(...BEAMS.map((beam) => element("option", { value: beam }, beam === 1 ? "1 (greedy)" : beam)));
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
  describe();
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
listen("viewer", "regard:row", (event) => replace(event.detail.row));
listen("unforce", "click", () => {
  change({});
  answer(() => find("source").focus());
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
window.addEventListener("hashchange", () => adopt(fromHash(location.hash)));

start();
