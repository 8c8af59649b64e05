// The server's answers, with everything that can go wrong on the way put into words.

const PATIENCE = 5; // times a busy server is asked again before we give up
const KEPT = "regard-token"; // in sessionStorage: gone when the tab is

/** What went wrong: in words, with the way out where there is one. */
export class Trouble extends Error {
  constructor(message, { fix = "", request = "", status = 0 } = {}) {
    super(message);
    this.fix = fix;
    this.request = request;
    this.status = status;
  }
}

/**
 * Asks, and gives the response back once it is a good one.
 * `onToken(reason)` resolves to a token or null; `onWait(seconds)` is told when a busy server is asked again later.
 */
export async function ask(path, body, { signal, onToken, onWait }) {
  for (let busy = 0; ; ) {
    const response = await send(path, body, signal);
    if (response.ok) return response;
    const trouble = await read(response);
    if (response.status === 401 && onToken) {
      const token = await onToken(sessionStorage.getItem(KEPT) ? "The token was not accepted." : "");
      signal?.throwIfAborted();
      if (token === null) throw new Trouble("This server answers only with its token.", { fix: "Try again and enter it." });
      sessionStorage.setItem(KEPT, token);
    } else if (response.status === 429 && busy++ < PATIENCE) {
      const seconds = Math.min(Math.max(Number(response.headers.get("Retry-After")) || 1, 1), 30);
      onWait?.(seconds);
      await pause(seconds, signal);
    } else throw trouble;
  }
}

async function send(path, body, signal) {
  const headers = {};
  const token = sessionStorage.getItem(KEPT);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  const how = { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal, cache: "no-store" };
  try {
    return await fetch(path, how);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble("The server does not answer.", { fix: "Is regard serve still running? Start it and try again." });
  }
}

async function read(response) {
  const content = await response.json().catch(() => ({}));
  const { message, fix, request_id } = content.error ?? {};
  return new Trouble(message || `The server answered with status ${response.status}.`, {
    fix: fix ?? "",
    request: request_id ?? response.headers.get("X-Request-Id") ?? "",
    status: response.status,
  });
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}
