// Attention one can point at: a heat map, alignment lines or a highlighted text of one panel, drawn into a container; or
// the picture or clip that was looked at, under its weights.
//
//   regardViewer(container, panel, options) -> {update(options)}
//   panel   {title, rows, columns, weights, marked: [[t, j], …]}   rows are output symbols, columns source symbols
//           {lines: [3, 5, …], sides: [0.4, 0.6, …]}               perhaps: columns in each line, and the lines' weights
//           {axes: ["output", "source"]}                           perhaps: what rows and columns are, if not these
//           {kind: "map"}                                          perhaps: what "auto" draws
//           {span: [3, 5]}                                         perhaps: columns begin … end − 1, where the answer stands
//           {scene: {grid: [rows, columns], images: [url], boxes: [[t, left, top, right, bottom], …], line: true}}
//           {scene: {frames: 24, images: [url, …]}}                perhaps: a picture whose cells, row by row, are the
//                                                                  columns, or a clip; urls may be empty or left out
//   options {kind: "auto" | "map" | "lines" | "text" | "overlay" | "places" | "filmstrip" | "animation",
//            threshold: 0 … 1, top}
//           weights below the threshold are not drawn; `top` has the full colour: the panel's largest by default;
//           "auto" draws what suits the panel: the first of regardViewer.kinds(panel)
//
// Pointing at or focusing a symbol shows its row or column; arrow keys walk along a side. A click or Enter on an output
// symbol sends the bubbling event "regard:row" with detail {row}. No dependencies, no inline styles, no network.
(function () {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const LEAST = 0.1; // share of the largest weight below which lines are left out, unless a threshold is given
  const INVISIBLE = 0.004; // share below which a cell has the colour of the ground
  const THICKEST = 9;
  const [DARK, DIM, LIGHT] = [0.8, 0.6, 0.45]; // opacity of the black and of the white of a veil: as in veil.py
  const LARGE = 420; // pixels of a picture's longer side, at least
  const TURN = 1200; // milliseconds of a symbol in an animation
  const FAMILY = 'system-ui, "Noto Sans", sans-serif';
  const ruler = document.createElement("canvas").getContext("2d");

  window.regardViewer = function (container, panel, options) {
    const view = {
      panel,
      options: { kind: "auto", threshold: null, top: null, ...options },
      rows: panel.rows.map(printable),
      columns: panel.columns.map(printable),
      largest: Math.max(0, ...panel.weights.map((row) => Math.max(0, ...row))),
      marked: panel.marked || [],
      axes: panel.axes || ["output", "source"],
      span: panel.span || [0, 0],
    };
    view.root = html("div", "regard-viewer");
    view.stage = html("div", "regard-stage");
    view.reading = html("p", "regard-reading");
    view.reading.setAttribute("role", "status");
    view.root.append(view.stage, view.reading);
    container.replaceChildren(view.root);
    listen(view);
    draw(view);
    let width = view.stage.clientWidth;
    new ResizeObserver(() => {
      const changed = Math.abs(view.stage.clientWidth - width) > 1;
      width = view.stage.clientWidth;
      if (changed && view.kind === "lines") draw(view);
    }).observe(view.stage);
    return {
      update(changes) {
        Object.assign(view.options, changes);
        draw(view);
      },
    };
  };

  // The kinds a panel can be drawn as, the one that suits it first.
  window.regardViewer.kinds = function ({ kind, lines, scene }) {
    const usual = lines && lines.length ? ["text", "map", "lines"] : ["map", "lines", "text"];
    const plain = kind ? [kind, ...usual.filter((other) => other !== kind)] : usual;
    if (!scene) return plain;
    if (!scene.grid) return ["filmstrip", ...plain];
    return [...(scene.line ? ["places", "overlay"] : ["overlay", "places"]), "animation", ...plain];
  };

  window.regardViewer.suits = (panel) => window.regardViewer.kinds(panel)[0];

  // What every kind of drawing gives: view.sides and view.heads (the labels), and light(place), which highlights.
  function draw(view) {
    const kinds = window.regardViewer.kinds(view.panel);
    view.kind = kinds.includes(view.options.kind) ? view.options.kind : kinds[0];
    stop(view);
    view.top = view.options.top ?? view.largest;
    view.least = view.options.threshold ?? (view.kind === "lines" ? view.top * LEAST : 0);
    view.sides = [];
    view.heads = [];
    view.light = () => {};
    view.stage.replaceChildren();
    DRAW[view.kind](view);
    for (const labels of [view.sides, view.heads]) if (labels.length) labels[0].setAttribute("tabindex", "0");
    show(view, null);
  }

  // ---- the heat map: four parts, of which the labels stay in sight when a large map is scrolled ----

  function drawMap(view) {
    const { rows, columns } = view;
    const cell = clamp(Math.round(560 / Math.max(rows.length, columns.length, 1)), 18, 34);
    const size = Math.min(14, cell * 0.74);
    const across = columns.map((text) => measure(text, size));
    const leaning = Math.max(0, ...across) > cell - 2;
    const reach = leaning ? Math.max(0, ...across) * 0.71 : 0;
    const left = Math.max(44, ...rows.map((text) => measure(text, size))) + 16;
    const above = Math.max(reach + size + 12, 34);
    const width = Math.max(columns.length * cell + (leaning ? reach : 0) + 8, 60);
    const height = Math.max(rows.length * cell, 1) + 4;

    const grid = html("div", "regard-grid");
    const corner = canvas(left, above, "regard-corner");
    const [output, source] = view.axes;
    if (source) corner.append(words(left - 8, above - 21, `${source} →`, 10, "faint end"));
    if (output) corner.append(words(left - 8, above - 8, `${output} ↓`, 10, "faint end"));
    const heads = canvas(width, above, "regard-heads");
    columns.forEach((text, j) => {
      const label = leaning
        ? words((j + 0.5) * cell + size * 0.25, above - 8 + size * 0.1, text, size, "label", -45)
        : words((j + 0.5) * cell, above - 8, text, size, "label middle");
      view.heads.push(named(view, label, "column", j));
      heads.append(label);
    });
    const sides = canvas(left, height, "regard-sides");
    rows.forEach((text, t) => {
      const label = words(left - 8, (t + 0.5) * cell + size * 0.35, text, size, "label end");
      view.sides.push(named(view, label, "row", t));
      sides.append(label);
    });
    const body = canvas(width, height, "regard-body");
    cells(view, body, cell);
    const rowBand = box(1, 0, Math.max(columns.length * cell - 1, 0), cell, "band");
    const columnBand = box(0, 1, cell, Math.max(rows.length * cell - 1, 0), "band");
    body.append(rowBand, columnBand);
    grid.append(corner, heads, sides, body);
    view.stage.append(grid);

    body.addEventListener("pointermove", (event) => {
      const frame = body.getBoundingClientRect();
      const row = Math.floor((event.clientY - frame.top) / cell);
      const column = Math.floor((event.clientX - frame.left) / cell);
      show(view, row < rows.length && column < columns.length && row >= 0 && column >= 0 ? { row, column } : null);
    });
    body.addEventListener("pointerleave", () => show(view, focused(view)));
    view.light = (place) => {
      rowBand.classList.toggle("on", place !== null && place.row !== undefined);
      columnBand.classList.toggle("on", place !== null && place.column !== undefined);
      if (place && place.row !== undefined) rowBand.setAttribute("y", place.row * cell);
      if (place && place.column !== undefined) columnBand.setAttribute("x", place.column * cell);
    };
  }

  function cells(view, body, cell) {
    body.append(box(0, 0, view.columns.length * cell, view.rows.length * cell, "ground"));
    view.panel.weights.forEach((row, t) =>
      row.forEach((weight, j) => {
        if (weight < view.least || weight <= view.top * INVISIBLE) return;
        const one = box(j * cell + 0.5, t * cell + 0.5, cell - 1, cell - 1, "cell");
        one.setAttribute("fill-opacity", (weight / view.top).toFixed(3));
        one.dataset.row = t;
        one.dataset.column = j;
        body.append(one);
      }),
    );
    for (const [t, j] of view.marked) body.append(box(j * cell + 1, t * cell + 1, cell - 2, cell - 2, "mark"));
    const [begin, end] = view.span;
    if (begin < end) body.append(box(begin * cell + 1, 1, (end - begin) * cell - 2, view.rows.length * cell - 2, "mark"));
  }

  // ---- alignment lines: lying sentences while they fit, standing ones when they do not ----

  function drawLines(view) {
    const size = 15;
    const lengths = (labels) => labels.map((text) => Math.max(measure(text, size), 8) + 14);
    const source = lengths(view.columns);
    const output = lengths(view.rows);
    const longest = Math.ceil(Math.max(sum(source), sum(output)));
    const room = widen(view.stage, longest + 4);
    const lying = longest + 4 <= room;
    const plan = lying ? lay(view, source, output, Math.max(longest, 120), size) : stand(view, source, output, room);
    const picture = canvas(plan.width, plan.height, "regard-body regard-lines");
    const ribbons = [];
    const heaviest = [];
    view.panel.weights.forEach((row, t) =>
      row.forEach((weight, j) => {
        if (weight > 0 && weight >= view.least) heaviest.push([weight, t, j]);
      }),
    );
    heaviest.sort((one, other) => one[0] - other[0]);
    for (const [weight, t, j] of heaviest) {
      const share = weight / view.top;
      const one = ribbon(plan, t, j, lying, "ribbon");
      one.setAttribute("stroke-width", Math.max(share * THICKEST, 0.6).toFixed(2));
      one.setAttribute("stroke-opacity", (0.25 + 0.6 * share).toFixed(3));
      ribbons.push(one);
    }
    for (const [t, j] of view.marked) ribbons.push(ribbon(plan, t, j, lying, "ribbon mark"));
    picture.append(...ribbons);
    label(view, picture, view.columns, plan.source, "column", view.heads, lying ? "middle" : "end", size);
    view.heads.slice(...view.span).forEach((one) => one.classList.add("found"));
    label(view, picture, view.rows, plan.output, "row", view.sides, lying ? "middle" : "", size);
    view.stage.append(picture);
    picture.addEventListener("pointerover", (event) => {
      const { row, column } = event.target.dataset;
      if (event.target.classList.contains("ribbon") && row !== undefined) {
        show(view, { row: Number(row), column: Number(column) });
      }
    });
    picture.addEventListener("pointerleave", () => show(view, focused(view)));
    view.light = (place) => {
      picture.classList.toggle("lit", place !== null);
      for (const one of ribbons) one.classList.toggle("on", place !== null && meets(one.dataset, place));
    };
  }

  // How wide the stage can become when something of this width stands in it.
  function widen(stage, width) {
    const probe = canvas(width, 1, "");
    stage.append(probe);
    const room = stage.clientWidth || 900;
    probe.remove();
    return room;
  }

  function lay(view, source, output, width, size) {
    return {
      width: width + 4,
      height: 190,
      source: line(view.columns, source, width, 22),
      output: line(view.rows, output, width, 176),
      from: [0, 9],
      to: [0, -size - 2],
    };
  }

  // A sentence is read in its own direction: one whose first letter is Arabic or Hebrew begins on the right.
  function line(labels, lengths, width, y) {
    const backwards = leftwards(labels.join(" "));
    let x = (width - sum(lengths)) / 2;
    return lengths.map((length) => {
      const place = { x: backwards ? width - x - length / 2 : x + length / 2, y };
      x += length;
      return place;
    });
  }

  function stand(view, source, output, room) {
    const step = 24;
    const tall = Math.max(source.length, output.length) * step;
    const left = Math.max(0, ...source);
    const right = Math.max(0, ...output);
    const between = Math.max(room - left - right, 140);
    const column = (count, x) => Array.from({ length: count }, (_, k) => ({ x, y: ((k + 0.5) * tall) / count + 5 }));
    return {
      width: left + Math.min(between, 320) + right,
      height: tall + 6,
      source: column(source.length, left),
      output: column(output.length, left + Math.min(between, 320)),
      from: [6, -5],
      to: [-6, -5],
    };
  }

  function ribbon(plan, t, j, lying, kind) {
    const [x, y] = [plan.source[j].x + plan.from[0], plan.source[j].y + plan.from[1]];
    const [u, v] = [plan.output[t].x + plan.to[0], plan.output[t].y + plan.to[1]];
    const bend = lying ? `${x} ${(y + v) / 2} ${u} ${(y + v) / 2}` : `${(x + u) / 2} ${y} ${(x + u) / 2} ${v}`;
    const one = svg("path", { class: kind, d: `M${x} ${y} C${bend} ${u} ${v}` });
    one.dataset.row = t;
    one.dataset.column = j;
    return one;
  }

  function label(view, picture, texts, places, side, labels, edge, size) {
    texts.forEach((text, number) => {
      const one = words(places[number].x, places[number].y, text, size, `label ${edge}`);
      labels.push(named(view, one, side, number));
      picture.append(one);
    });
  }

  // ---- a highlighted text: a copy of it for each row, a paragraph for each line of the panel ----

  function drawText(view) {
    const lines = view.panel.lines && view.panel.lines.length ? view.panel.lines : [view.columns.length];
    const text = html("div", "regard-text");
    view.rows.forEach((name, t) => {
      if (view.rows.length > 1) text.append(rowName(view, name, t));
      let first = 0;
      lines.forEach((count, number) => {
        text.append(paragraph(view, t, first, first + count, (view.panel.sides || [])[number]));
        first += count;
      });
    });
    view.stage.append(text);
  }

  function rowName(view, name, t) {
    const one = html("div", "label regard-row-name");
    one.textContent = name;
    one.dir = "auto";
    view.sides.push(named(view, one, "row", t));
    return one;
  }

  function paragraph(view, t, begin, end, side) {
    const one = html("div", "regard-line");
    if (side !== undefined) one.append(sideBar(view, side));
    const body = html("p", "");
    body.dir = leftwards(view.columns.slice(begin, end).join(" ")) ? "rtl" : "ltr";
    for (let j = begin; j < end; j += 1) body.append(word(view, t, j), " ");
    one.append(body);
    return one;
  }

  // The first copy's words are those that Tab and arrow keys reach; all of them can be pointed at.
  function word(view, t, j) {
    const weight = view.panel.weights[t][j];
    const one = named(view, html("span", "label regard-word"), "column", j);
    const share = weight < view.least || view.top === 0 ? 0 : Math.min(weight / view.top, 1);
    one.style.setProperty("--share", `${(100 * share).toFixed(1)}%`);
    one.textContent = view.columns[j];
    one.dataset.row = t;
    const found = view.span[0] <= j && j < view.span[1];
    one.classList.toggle("mark", found || view.marked.some(([row, column]) => row === t && column === j));
    if (t === 0) view.heads.push(one);
    return one;
  }

  function sideBar(view, side) {
    const one = html("span", "regard-side");
    const bar = html("span", "regard-side-bar");
    bar.style.setProperty("--share", `${((100 * side) / Math.max(...view.panel.sides, 1e-9)).toFixed(1)}%`);
    one.append(side.toFixed(2), bar);
    return one;
  }

  // ---- the picture that was looked at, lit where the symbol pointed at was looking; its words below, or at their places ----

  function drawPlane(view) {
    const { rows } = view;
    const { grid, images = [], boxes = [], line } = view.panel.scene;
    const placed = view.kind === "places" || (view.kind === "animation" && line);
    const frame = html("div", "regard-plane");
    const veil = html("canvas", "regard-veil");
    [veil.height, veil.width] = grid;
    const marks = svg("svg", { class: "regard-marks", viewBox: "0 0 1 1", preserveAspectRatio: "none" });
    frame.append(images[0] ? enlarged(image(images[0], view.panel.title), line) : blank(grid), veil, marks);
    const words = html("div", placed ? "regard-places" : "regard-caption");
    words.dir = placed ? "ltr" : leftwards(rows.join(" ")) ? "rtl" : "ltr";
    rows.forEach((text, t) => {
      const one = html("span", "label regard-symbol");
      one.textContent = placed ? text : text.replaceAll("␣", " ");
      view.sides.push(named(view, one, "row", t));
      words.append(one, " ");
    });
    const scene = html("div", "regard-scene");
    scene.append(...(placed ? [words, frame] : [frame, words, play(view)]));
    view.stage.append(scene);
    if (placed) new ResizeObserver(() => stagger(view, words, grid)).observe(frame); // a picture comes after its frame

    frame.addEventListener("pointermove", (event) => {
      const { left, top, width, height } = frame.getBoundingClientRect();
      const at = (place, count) => clamp(Math.floor(place * count), 0, count - 1);
      const [row, column] = [at((event.clientY - top) / height, grid[0]), at((event.clientX - left) / width, grid[1])];
      show(view, { column: row * grid[1] + column });
    });
    frame.addEventListener("pointerleave", () => show(view, focused(view)));
    view.light = (place) => {
      const row = place ? place.row : undefined;
      layVeil(view, veil, row);
      const given = boxes.filter(([t]) => t === row).map(([, x, y, u, v]) => box(x, y, u - x, v - y, "mark"));
      const cells = view.marked.filter(([t]) => t === row).map(([, j]) => cellBox(j, grid, "mark"));
      const here = place && place.column !== undefined ? [cellBox(place.column, grid, "band on")] : [];
      marks.replaceChildren(...given, ...cells, ...here);
    };
    if (view.kind === "animation") start(view);
  }

  // Dark where nothing was looked at, white where the row's largest weight is; the browser smooths from cell to cell.
  function layVeil(view, veil, row) {
    const brush = veil.getContext("2d");
    brush.clearRect(0, 0, veil.width, veil.height);
    if (row === undefined) return;
    const weights = view.panel.weights[row].map((weight) => (weight < view.least ? 0 : weight));
    const top = Math.max(...weights, 1e-30);
    const dark = view.panel.scene.line ? DIM : DARK;
    const dots = brush.createImageData(veil.width, veil.height);
    weights.forEach((weight, j) => {
      const white = (LIGHT * weight) / top;
      const alpha = dark * (1 - weight / top) + white;
      dots.data.fill(Math.round((255 * white) / alpha), 4 * j, 4 * j + 3);
      dots.data[4 * j + 3] = Math.round(255 * alpha);
    });
    brush.putImageData(dots, 0, 0);
  }

  function cellBox(j, [rows, columns], kind) {
    return box((j % columns) / columns, Math.floor(j / columns) / rows, 1 / columns, 1 / rows, kind);
  }

  function image(url, alt) {
    const one = html("img", "regard-picture");
    one.src = url;
    one.alt = alt || "";
    one.draggable = false;
    return one;
  }

  // A small picture is shown larger, until one side is long enough.
  function enlarged(picture, line) {
    picture.addEventListener("load", () => {
      const { naturalWidth: wide, naturalHeight: tall } = picture;
      picture.width = Math.round(wide * Math.max(Math.min((line ? 900 : LARGE) / wide, LARGE / tall), 1));
    });
    return picture;
  }

  // Grey, where there is no picture.
  function blank([rows, columns]) {
    return svg("svg", { class: "regard-picture regard-blank", viewBox: `0 0 ${columns} ${rows}`, width: 480 });
  }

  // Symbols at the centres of their weights, on the lowest level on which they do not touch the one to their left.
  function stagger(view, words, [rows, columns]) {
    const wide = words.clientWidth || 800;
    const centres = view.panel.weights.map((row) => {
      const total = sum(row) || 1;
      return sum(row.map((weight, j) => (weight * ((j % columns) + 0.5)) / columns)) / total;
    });
    const ends = [];
    const order = centres.map((_, t) => t).sort((one, other) => centres[one] - centres[other]);
    for (const t of order) {
      const half = measure(view.rows[t], 16) / 2 + 2;
      const x = centres[t] * wide;
      const free = ends.findIndex((end) => end <= x - half);
      const level = free < 0 ? ends.length : free;
      ends[level] = x + half;
      view.sides[t].style.setProperty("--x", `${(100 * centres[t]).toFixed(2)}%`);
      view.sides[t].style.setProperty("--level", level);
    }
    words.style.setProperty("--levels", ends.length);
  }

  function play(view) {
    const one = html("button", "regard-play");
    one.type = "button";
    one.textContent = "Play";
    one.addEventListener("click", () => (view.clock ? stop(view) : start(view)));
    view.button = one;
    return one;
  }

  function start(view) {
    let row = 0;
    const step = () => show(view, { row: row++ % view.rows.length });
    if (!view.rows.length) return;
    step();
    view.clock = setInterval(step, TURN);
    if (view.button) view.button.textContent = "Stop";
  }

  function stop(view) {
    clearInterval(view.clock);
    view.clock = null;
    if (view.button) view.button.textContent = "Play";
  }

  // ---- the filmstrip: frames above, a cell per frame below, for each symbol ----

  function drawFilm(view) {
    const { rows, columns } = view;
    const film = html("div", "regard-film");
    const wide = clamp(Math.round(900 / Math.max(columns.length, 1)), 56, 132);
    film.style.setProperty("--columns", columns.length);
    film.style.setProperty("--wide", `${wide}px`);
    const frames = columns.map((text, j) => {
      const one = named(view, html("div", "label regard-frame"), "column", j);
      const url = (view.panel.scene.images || [])[j];
      if (url) one.append(image(url, ""));
      one.append(text);
      view.heads.push(one);
      return one;
    });
    film.append(html("div", "regard-name"), ...frames);
    rows.forEach((text, t) => {
      const name = named(view, html("div", "label regard-name"), "row", t);
      name.textContent = text.replaceAll("␣", " ");
      name.dir = "auto";
      view.sides.push(name);
      film.append(name, ...columns.map((_, j) => shade(view, t, j)));
    });
    view.stage.append(film);
    film.addEventListener("pointerover", ({ target }) => {
      if (target.classList.contains("regard-shade")) {
        show(view, { row: Number(target.dataset.row), column: Number(target.dataset.column) });
      }
    });
    film.addEventListener("pointerleave", () => show(view, focused(view)));
    view.light = (place) =>
      frames.forEach((frame, j) => {
        const row = place ? place.row : undefined;
        const share = row === undefined ? 1 : view.panel.weights[row][j] / Math.max(...view.panel.weights[row], 1e-30);
        frame.style.setProperty("--share", (0.15 + 0.85 * share).toFixed(3));
      });
  }

  function shade(view, t, j) {
    const one = html("div", "regard-shade");
    const weight = view.panel.weights[t][j];
    const share = weight < view.least || view.top === 0 ? 0 : Math.min(weight / view.top, 1);
    one.style.setProperty("--share", `${(100 * share).toFixed(1)}%`);
    one.dataset.row = t;
    one.dataset.column = j;
    one.classList.toggle("mark", view.marked.some(([row, column]) => row === t && column === j));
    return one;
  }

  const DRAW = {
    map: drawMap,
    lines: drawLines,
    text: drawText,
    overlay: drawPlane,
    places: drawPlane,
    animation: drawPlane,
    filmstrip: drawFilm,
  };

  // ---- pointing, focusing, reading ----

  function listen(view) {
    const place = (target) => {
      const one = target instanceof Element ? target.closest(".label") : null;
      return one && { [one.dataset.side]: Number(one.dataset.number) };
    };
    view.stage.addEventListener("pointerdown", (event) => event.target !== view.button && stop(view));
    view.stage.addEventListener("pointerover", (event) => place(event.target) && show(view, place(event.target)));
    view.stage.addEventListener("pointerout", (event) => place(event.target) && show(view, focused(view)));
    view.stage.addEventListener("focusin", (event) => place(event.target) && show(view, place(event.target)));
    view.stage.addEventListener("focusout", () => show(view, null));
    view.stage.addEventListener("click", (event) => choose(view, place(event.target)));
    view.stage.addEventListener("keydown", (event) => {
      const here = place(event.target);
      if (!here) return;
      if (event.key === "Enter" || event.key === " ") choose(view, here);
      else if (!walk(view, here, event.key)) return;
      event.preventDefault();
    });
  }

  function choose(view, place) {
    if (place && place.row !== undefined) {
      view.root.dispatchEvent(new CustomEvent("regard:row", { bubbles: true, detail: { row: place.row } }));
    }
  }

  function walk(view, here, key) {
    const labels = here.row !== undefined ? view.sides : view.heads;
    const now = here.row ?? here.column;
    const ways = { ArrowDown: now + 1, ArrowRight: now + 1, ArrowUp: now - 1, ArrowLeft: now - 1 };
    const next = { ...ways, Home: 0, End: labels.length - 1 }[key];
    if (next === undefined) return false;
    const target = labels[clamp(next, 0, labels.length - 1)];
    for (const one of labels) one.setAttribute("tabindex", one === target ? "0" : "-1");
    target.focus();
    return true;
  }

  function focused(view) {
    const one = document.activeElement;
    return one && view.stage.contains(one) && one.dataset.side ? { [one.dataset.side]: Number(one.dataset.number) } : null;
  }

  function show(view, place) {
    view.light(place);
    const weight = (t, j) => view.panel.weights[t][j];
    const strong = (value) => value >= Math.max(view.top * 0.1, 1e-9);
    view.heads.forEach((one, j) => {
      one.classList.toggle("on", place !== null && (place.column === j || lit(place.row, (t) => strong(weight(t, j)))));
      one.classList.toggle("dim", place !== null && place.column !== j && !lit(place.row, (t) => strong(weight(t, j))));
    });
    view.sides.forEach((one, t) => {
      one.classList.toggle("on", place !== null && (place.row === t || lit(place.column, (j) => strong(weight(t, j)))));
      one.classList.toggle("dim", place !== null && place.row !== t && !lit(place.column, (j) => strong(weight(t, j))));
    });
    view.reading.replaceChildren(...(place === null ? [invitation(view)] : sentence(view, place)));
  }

  const lit = (number, test) => number !== undefined && test(number);
  const meets = (data, place) =>
    (place.row === undefined || Number(data.row) === place.row) &&
    (place.column === undefined || Number(data.column) === place.column);

  function invitation(view) {
    const left = view.least > 0 ? `; weights below ${view.least.toFixed(2)} are left out` : "";
    return document.createTextNode(`Largest weight ${view.largest.toFixed(3)}${left}. Point at a symbol.`);
  }

  // "AH0 ← e 0.62, n 0.31": the symbol pointed at, and what it is joined with, the heaviest first.
  function sentence(view, { row, column }) {
    if (row !== undefined && column !== undefined) {
      return reading(view.rows[row], " ← ", [[view.columns[column], view.panel.weights[row][column]]]);
    }
    const [symbol, arrow, pairs] =
      row !== undefined
        ? [view.rows[row], " ← ", view.panel.weights[row].map((weight, j) => [view.columns[j], weight])]
        : [view.columns[column], " → ", view.panel.weights.map((weights, t) => [view.rows[t], weights[column]])];
    return reading(symbol, arrow, pairs.sort((one, other) => other[1] - one[1]).slice(0, 4));
  }

  function reading(symbol, arrow, pairs) {
    const parts = [isolated(symbol), arrow];
    pairs.forEach(([other, weight], place) => parts.push(place ? ", " : "", isolated(other), ` ${digits(weight)}`));
    return parts;
  }

  // Sets a symbol apart, so that Arabic or Hebrew does not turn the numbers beside it round.
  function isolated(text) {
    const one = html("bdi", "");
    one.textContent = text;
    return one;
  }

  const digits = (weight) => (weight >= 0.0005 ? weight.toFixed(3) : weight === 0 ? "0" : weight.toExponential(1));

  function named(view, element, side, number) {
    element.dataset.side = side;
    element.dataset.number = number;
    element.setAttribute("tabindex", "-1");
    element.setAttribute("role", side === "row" ? "button" : "img");
    const text = sentence(view, { [side]: number }).map((part) => part.textContent ?? part).join("");
    const axis = (side === "row" ? view.axes[0] : view.axes[1]) || side;
    element.setAttribute("aria-label", `${axis} ${number + 1}: ${text}`);
    return element;
  }

  // ---- small tools ----

  const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
  const HIDDEN = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u00ad\ufeff]/gu;

  function leftwards(text) {
    const letter = text.match(/\p{L}/u);
    return letter !== null && RIGHT_TO_LEFT.test(letter[0]);
  }

  function printable(label) {
    if (!label) return "∅";
    const code = (one) => `\\u${one.codePointAt(0).toString(16).padStart(4, "0")}`;
    const visible = (label.replace(/^￭+|￭+$/gu, "") || label).replace(/\p{Zs}/gu, "␣").replace(HIDDEN, code);
    const text = visible.replace(/(?<=[^␣])␣+(?=[^␣])/gu, " "); // between words of a name
    return /^\p{M}/u.test(text) ? `◌${text}` : text;
  }

  function measure(text, size) {
    ruler.font = `${size}px ${FAMILY}`;
    return ruler.measureText(text).width;
  }

  function svg(tag, attributes) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  function canvas(width, height, kind) {
    return svg("svg", { class: kind, width, height, viewBox: `0 0 ${width} ${height}` });
  }

  function box(x, y, width, height, kind) {
    return svg("rect", { class: kind, x, y, width, height });
  }

  // `kind` may say where the text stands: at its start by default, "middle" or "end"; turned round in right-to-left text.
  function words(x, y, text, size, kind, turn) {
    const element = svg("text", { class: kind, x, y, "font-size": size });
    const edge = kind.split(" ").find((one) => one === "middle" || one === "end") || "start";
    if (leftwards(text)) element.setAttribute("direction", "rtl");
    const swapped = { start: "end", middle: "middle", end: "start" };
    element.setAttribute("text-anchor", leftwards(text) ? swapped[edge] : edge);
    if (turn) element.setAttribute("transform", `rotate(${turn} ${x} ${y})`);
    element.textContent = text;
    return element;
  }

  function html(tag, kind) {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    return element;
  }

  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
  const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
})();
