import { setTimeout as sleep } from "node:timers/promises";

/** Reads single key presses. */
export interface KeyReader {
  /** Rejects when the signal aborts, or when the input has ended. */
  next(signal: AbortSignal): Promise<string>;
  close(): void;
}

export interface KeySource {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  off(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  off(event: "end", listener: () => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

const CTRL_C = "\u0003";
/** Input that was typed earlier and is still buffered by the terminal arrives within this time. */
const QUIET_MS = 150;

/**
 * SECURITY: a key counts only if it was pressed alone and after it was requested: keys that were typed ahead, pasted,
 * or part of a sequence are ignored.
 */
export async function openKeyReader(source: KeySource): Promise<KeyReader> {
  let asked: { readonly resolve: (key: string) => void; readonly reject: (reason: Error) => void } | undefined;
  let hasEnded = false;
  const onData = (chunk: Uint8Array): void => {
    const key = Buffer.from(chunk).toString("utf8");
    // In raw mode the terminal sends no signal itself.
    if (key === CTRL_C) process.kill(process.pid, "SIGINT");
    else if (/^[!-~]$/.test(key)) asked?.resolve(key);
  };
  const onEnd = (): void => {
    hasEnded = true;
    asked?.reject(new Error("there is nobody to answer"));
  };
  source.setRawMode?.(true);
  source.on("data", onData);
  source.on("end", onEnd);
  source.resume();
  await sleep(QUIET_MS);
  return {
    async next(signal) {
      signal.throwIfAborted();
      if (hasEnded) throw new Error("there is nobody to answer");
      const key = Promise.withResolvers<string>();
      const leave = (): void => key.reject(new Error("no longer asked"));
      signal.addEventListener("abort", leave, { once: true });
      asked = key;
      try {
        return await key.promise;
      } finally {
        asked = undefined;
        signal.removeEventListener("abort", leave);
      }
    },
    close() {
      source.off("data", onData);
      source.off("end", onEnd);
      source.setRawMode?.(false);
      source.pause();
    },
  };
}
