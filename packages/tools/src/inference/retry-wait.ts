import { readField, readList, readText } from "@narthex/contracts";
import type { HeaderList } from "@narthex/kernel";

/** Used if the provider does not say how long to wait. */
const DEFAULT_WAIT_MS = 1000;
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;
const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";

/** How long a provider asks clients to wait: from its headers, or from the details of Google's errors. */
export function retryWaitMs(headers: HeaderList, error: unknown, nowMs: number): number {
  const waitMs = fromHeaders(headers, nowMs) ?? fromDetails(error) ?? DEFAULT_WAIT_MS;
  return Math.min(Math.max(Math.ceil(waitMs), 1), MAX_WAIT_MS);
}

function fromHeaders(headers: HeaderList, nowMs: number): number | undefined {
  const valueOf = (wanted: string): string => headers.find(([name]) => name === wanted)?.[1].trim() ?? "";
  const after = valueOf("retry-after");
  return numberIn(valueOf("retry-after-ms")) ?? secondsIn(after) ?? untilDate(after, nowMs);
}

/** `17s` or `17.25s`. */
function fromDetails(error: unknown): number | undefined {
  const info = readList(error, "details").find((detail) => readField(detail, "@type") === RETRY_INFO);
  return secondsIn(readText(info, "retryDelay")?.replace(/s$/, "") ?? "");
}

function secondsIn(text: string): number | undefined {
  const seconds = numberIn(text);
  return seconds === undefined ? undefined : seconds * 1000;
}

function numberIn(text: string): number | undefined {
  return /^\d{1,12}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

/** `Wed, 21 Oct 2026 07:28:00 GMT`. */
function untilDate(text: string, nowMs: number): number | undefined {
  const dateMs = text.endsWith(" GMT") ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : dateMs - nowMs;
}
