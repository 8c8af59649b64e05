// The bar above the panels of a saved page: what kind of picture, and the threshold, for all panels together.
(function () {
  "use strict";

  const { panels } = JSON.parse(document.getElementById("regard-panels").textContent);
  const largest = (some) => some.flatMap((panel) => panel.weights).reduce((most, row) => Math.max(most, ...row), 0); // by rows: a call takes only so many arguments
  const top = largest(panels);
  const auto = window.regardViewer.suits;
  const usual = { lines: Math.round(top * 10) / 100 };
  let kind = document.body.dataset.kind;
  if (kind === "auto" && new Set(panels.map(auto)).size === 1) kind = auto(panels[0]);
  let chosen = null; // the threshold, once somebody has moved it

  const possible = new Set(panels.flatMap(window.regardViewer.kinds));
  const kinds = ["overlay", "places", "filmstrip", "animation", "map", "lines", "text"].filter((name) => possible.has(name));
  const bar = document.createElement("div");
  bar.className = "regard-bar";
  bar.innerHTML = `
    <fieldset><legend>Show</legend>
      ${kinds.map((name) => `<label><input type="radio" name="kind" value="${name}"> ${name}</label>`).join("\n      ")}
    </fieldset>
    <label class="regard-threshold">Leave out weights below
      <input type="range" min="0" max="1" step="0.01"> <output></output>
    </label>`;
  const slider = bar.querySelector("input[type=range]");
  const shown = bar.querySelector("output");
  const sheet = document.createElement("main");
  document.body.append(bar, sheet);
  const across = Number(document.body.dataset.across) || panels.length; // panels in a row, where the window is wide enough
  let row = null;

  const threshold = () => chosen ?? usual[kind] ?? 0;
  const alike = (panel) => panels.filter((other) => kind !== "auto" || auto(other) === auto(panel)); // share one scale
  const options = (panel) => ({ kind, threshold: threshold(), top: largest(alike(panel)) });
  const viewers = panels.map((panel, number) => {
    if (number % across === 0) {
      row = document.createElement("div");
      row.className = "regard-row";
      sheet.append(row);
    }
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const place = document.createElement("div");
    caption.textContent = panel.title;
    caption.dir = "auto";
    figure.append(caption, place);
    row.append(figure);
    return window.regardViewer(place, panel, options(panel));
  });

  function refresh() {
    const radio = bar.querySelector(`input[value=${kind}]`); // none is chosen while panels are of several kinds
    if (radio) radio.checked = true;
    slider.value = threshold();
    shown.textContent = threshold().toFixed(2);
  }

  bar.addEventListener("input", (event) => {
    if (event.target === slider) chosen = Number(slider.value);
    else kind = event.target.value;
    refresh();
    viewers.forEach((viewer, number) => viewer.update(options(panels[number])));
  });
  refresh();
})();
