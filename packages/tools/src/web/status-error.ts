import { KernelError } from "@narthex/contracts";
import type { IncomingResponse } from "@narthex/kernel";

const MAX_WAIT_MS = 24 * 3_600_000;

/** Converts the status of a response to an error; undefined for 2xx. */
export function statusError(answer: IncomingResponse, nowMs: number): KernelError | undefined {
  const { status } = answer;
  if (status >= 200 && status < 300) return undefined;
  const host = URL.parse(answer.url)?.host ?? "the server";
  if (status !== 429) return new KernelError("UPSTREAM_ERROR", `\`${host}\` answered with status ${status}`);
  const retryAfterMs = retryAfter(answer, nowMs);
  const message = `\`${host}\` was asked too often (status 429)`;
  return new KernelError("RATE_LIMITED", message, retryAfterMs === undefined ? {} : { retryAfterMs });
}

/** How long the server asks to wait, in milliseconds and at most a day; undefined if it does not say. */
export function retryAfter(answer: Pick<IncomingResponse, "headers">, nowMs: number): number | undefined {
  const text = headerOf(answer, "retry-after");
  if (text === undefined) return undefined;
  const waitMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(waitMs) ? undefined : Math.min(MAX_WAIT_MS, Math.max(0, waitMs));
}

/** The value of the first header with this name. */
export function headerOf({ headers }: Pick<IncomingResponse, "headers">, name: string): string | undefined {
  return headers.find(([given]) => given === name)?.[1].trim();
}
