// What is looked at, kept behind the # of the address, so that a view can be sent to somebody. It never reaches a server.

export const BEAMS = [1, 2, 3, 5, 10, 20];
const KINDS = ["map", "lines", "text", "overlay", "places", "filmstrip", "animation"]; // "auto" is what suits the answer
export const START = { model: "", source: "", features: "", beam: 5, forced: [], ended: false, pick: 0, kind: "auto", threshold: 0 };

/** The view that an address tells; whatever makes no sense in it is as at the start. */
export function fromHash(hash) {
  const told = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (name, fits, otherwise) => {
    const value = Number(told.get(name) ?? NaN);
    return fits(value) ? value : otherwise;
  };
  return {
    model: told.get("model") ?? START.model,
    source: told.get("source") ?? START.source,
    features: told.get("features") ?? START.features,
    beam: number("beam", (value) => BEAMS.includes(value), START.beam),
    forced: told.getAll("forced"),
    ended: told.get("ended") === "yes",
    pick: number("pick", (value) => Number.isInteger(value) && value >= 0, START.pick),
    kind: KINDS.includes(told.get("kind")) ? told.get("kind") : START.kind,
    threshold: number("threshold", (value) => value >= 0 && value <= 1, START.threshold),
  };
}

/** Only what differs from the start, so that addresses stay short. */
export function toHash(view) {
  const told = new URLSearchParams();
  for (const name of ["model", "source", "features", "beam", "pick", "kind", "threshold"])
    if (view[name] !== START[name]) told.set(name, view[name]);
  for (const symbol of view.forced) told.append("forced", symbol);
  if (view.ended) told.set("ended", "yes");
  return `#${told}`;
}
