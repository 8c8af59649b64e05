// What a run sees of a picture or a clip, drawn in this browser from the file that was chosen: no server sends it back.

import { element } from "./dom.js";

const LARGEST = 1600; // pixels of a picture's longer side
const FRAME = 320; // of a frame's
const SMALL = 512; // up to here without loss
const PATIENCE = 5000; // milliseconds, for one step of a video

let last = { key: [], urls: null };

/** Addresses of what is seen: of a picture one, of a clip one for each of `count` frames; none, if this browser cannot. */
export function see(file, looks, count) {
  const key = [file, looks.kind, looks.fit, looks.every, looks.frames, count];
  if (!key.every((part, place) => part === last.key[place])) {
    const made = looks.kind === "clip" ? animated(file, looks, count).catch(() => filmed(file, looks, count)) : pictured(file, looks);
    last = { key, urls: made.catch(() => []) };
  }
  return last.urls;
}

/** One small picture, as soon as there is a file; "" if this browser cannot. */
export async function glimpse(file, looks) {
  const [url] = await pictured(file, looks).catch(() => filmed(file, looks, 1)).catch(() => [""]);
  return url;
}

async function pictured(file, looks) {
  const image = await createImageBitmap(file); // upright, as its camera says
  return [drawn(image, image.width, image.height, looks.fit, LARGEST)];
}

/** GIF and WebP. Fails where the browser does not decode frames, or finds others than the server did. */
async function animated(file, looks, count) {
  const decoder = new ImageDecoder({ data: await file.arrayBuffer(), type: file.type });
  await decoder.tracks.ready;
  await decoder.completed;
  const numbers = chosen(decoder.tracks.selectedTrack.frameCount, looks);
  if (numbers.length !== count) throw new Error("other frames");
  const urls = [];
  for (const frameIndex of numbers) {
    const { image } = await decoder.decode({ frameIndex });
    urls.push(drawn(image, image.displayWidth, image.displayHeight, looks.fit, FRAME));
    image.close();
  }
  return urls;
}

/** As `ClipView.chosen`: every k-th frame from the first; of too many, the middles of equally long stretches. */
function chosen(total, { every, frames }) {
  const count = Math.ceil(total / every);
  const seen = Math.min(count, frames);
  return Array.from({ length: seen }, (_, place) => Math.floor(((2 * place + 1) * count) / (2 * seen)) * every);
}

/** A browser does not count the frames of a video: they are taken at the times where so many would be. */
async function filmed(file, looks, count) {
  const url = URL.createObjectURL(file);
  const video = element("video", { muted: true, playsInline: true, preload: "auto", src: url });
  const within = count < looks.frames ? 0.5 / looks.every : 0.5; // of a stretch, where its frame lies
  const urls = [];
  try {
    await heard(video, "loadeddata");
    for (let place = 0; place < count; place += 1) {
      video.currentTime = (video.duration * (place + within)) / count;
      await heard(video, "seeked");
      urls.push(drawn(video, video.videoWidth, video.videoHeight, looks.fit, FRAME));
    }
  } finally {
    video.removeAttribute("src");
    URL.revokeObjectURL(url);
  }
  return urls;
}

function heard(video, name) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(reject, PATIENCE, new Error("too slow"));
    video.addEventListener(name, () => (clearTimeout(timer), resolve()), { once: true });
    video.addEventListener("error", () => (clearTimeout(timer), reject(video.error)), { once: true });
  });
}

/** As `View.shown` cuts it, the transparent parts white, as an address. */
function drawn(image, width, height, fit, largest) {
  const side = Math.min(width, height);
  const [wide, tall] = fit === "square" ? [side, side] : [width, height];
  const scale = Math.min(1, largest / Math.max(wide, tall));
  const canvas = element("canvas", { width: Math.max(1, Math.round(wide * scale)), height: Math.max(1, Math.round(tall * scale)) });
  const brush = canvas.getContext("2d");
  brush.fillStyle = "white";
  brush.fillRect(0, 0, canvas.width, canvas.height);
  const [left, top] = [Math.floor((width - wide) / 2), Math.floor((height - tall) / 2)];
  brush.drawImage(image, left, top, wide, tall, 0, 0, canvas.width, canvas.height);
  return Math.max(canvas.width, canvas.height) <= SMALL ? canvas.toDataURL() : canvas.toDataURL("image/jpeg", 0.92);
}
