// A file that was fetched, saved by the browser under a name that tells what is in it.

import { element } from "./dom.js";

export function fileName(source) {
  return source.replace(/[^\p{L}\p{M}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 40) || "attention";
}

export function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
