/** Requests and events between the page and the kernel. */

const KEY = "narthex-console-key";
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
/** The kernel sends a heartbeat every 15 seconds. */
const SILENCE_MS = 40_000;

/** A refused request. */
class RequestError extends Error {
  constructor(status, { code = "", message = "the kernel did not say why" }) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Unlike cookies, storage belongs to this very port. */
export function keepKey(key) {
  localStorage.setItem(KEY, key);
}

export function forgetKey() {
  localStorage.removeItem(KEY);
}

export async function ask(name, body) {
  const response = await post(name, body);
  return response.json();
}

/** Reports every event of the kernel, and reconnects after each break. Never ends. */
export async function listen(onEvent, onState) {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      await readEvents((event) => {
        waitMs = FIRST_WAIT_MS;
        onEvent(event);
      }, onState);
      onState("lost");
    } catch (error) {
      if (error.status === 401) return leave();
      onState("lost");
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

export function leave() {
  forgetKey();
  location.replace("/console/sign-in");
}

async function readEvents(onEvent, onState) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await post("live", {}, silence.signal);
    onState("live");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) onEvent(JSON.parse(line));
    }
  } finally {
    clearTimeout(timer);
  }
}

async function post(name, body, signal) {
  const response = await fetch(`/console/api/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-narthex-console": localStorage.getItem(KEY) ?? "none" },
    body: JSON.stringify(body),
    signal,
  }).catch((cause) => {
    throw new Error("the kernel cannot be reached", { cause });
  });
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  throw new RequestError(response.status, answer.error ?? {});
}
