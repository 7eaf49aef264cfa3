import { readCount, readField, KernelError, readList, readText } from "@narthex/contracts";
import type { HeaderList } from "@narthex/kernel";
import type { InferenceProvider } from "./inference-provider.ts";
import { retryWaitMs } from "./retry-wait.ts";

/** An error response of a provider. */
export interface ProviderRefusal {
  /** Undefined if the error was inside a stream. */
  readonly status?: number;
  readonly headers: HeaderList;
  /** The parsed JSON, or the text if it is not JSON. */
  readonly body: unknown;
}

const MAX_MESSAGE = 300;
/** Too many requests, and two statuses for an overloaded server. */
const BUSY_STATUS: ReadonlySet<number> = new Set([429, 503, 529]);
const BUSY_KINDS: ReadonlySet<string> = new Set([
  "rate_limit_error",
  "overloaded_error",
  "rate_limit_exceeded",
  "RESOURCE_EXHAUSTED",
  "UNAVAILABLE",
]);
const KEY_STATUS: ReadonlySet<number> = new Set([401, 403]);
const KEY_KINDS: ReadonlySet<string> = new Set([
  "authentication_error",
  "permission_error",
  "invalid_api_key",
  "API_KEY_INVALID",
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
]);
/** Error type for which waiting does not help. */
const NO_CREDIT = "insufficient_quota";

/** Returns RATE_LIMITED if a retry is worthwhile, otherwise UPSTREAM_ERROR. */
export function providerFault(provider: InferenceProvider, refusal: ProviderRefusal, nowMs: number): KernelError {
  const error = errorIn(refusal.body);
  const kinds = kindsOf(error);
  const status = refusal.status ?? readCount(error, "code") ?? 0;
  const name = `the provider \`${provider.name}\``;
  const shown = refusal.status === undefined ? "in its stream" : `with status ${refusal.status}`;
  if (KEY_STATUS.has(status) || kinds.some((kind) => KEY_KINDS.has(kind))) return keyRefused(provider, name, shown);
  const said = messageOf(error);
  if (!kinds.includes(NO_CREDIT) && (BUSY_STATUS.has(status) || kinds.some((kind) => BUSY_KINDS.has(kind)))) {
    const retryAfterMs = retryWaitMs(refusal.headers, error, nowMs);
    return new KernelError("RATE_LIMITED", `${name} is busy or was asked too often, ${shown}${said}`, { retryAfterMs });
  }
  const what = status >= 400 && status < 500 ? "refused the request" : "failed";
  return new KernelError("UPSTREAM_ERROR", `${name} ${what} ${shown}${said}`);
}

/** SECURITY: leaves out the provider's own message, which may contain the key or a part of it. */
function keyRefused({ key }: InferenceProvider, name: string, shown: string): KernelError {
  const asked = key === undefined ? "a request without a key" : `the key \`${key}\`, or what it was used for`;
  return new KernelError("UPSTREAM_ERROR", `${name} refused ${asked} ${shown}: see the secret in the configuration`);
}

/** Some Google endpoints wrap the error in a list. */
function errorIn(body: unknown): unknown {
  const [first = body] = Array.isArray(body) ? (body as readonly unknown[]) : [];
  return readField(first, "error") ?? first;
}

function kindsOf(error: unknown): string[] {
  const named = [error, ...readList(error, "details")].flatMap((item) =>
    ["type", "code", "status", "reason"].map((field) => readText(item, field)),
  );
  return named.filter((kind) => kind !== undefined);
}

/** One line of the message, in backticks that it cannot close. */
function messageOf(error: unknown): string {
  const text = typeof error === "string" ? error : (readText(error, "message") ?? readText(error, "detail") ?? "");
  const line = text
    .slice(0, MAX_MESSAGE)
    .replace(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}`]+/gu, " ")
    .trim();
  return line === "" ? "" : `: \`${line}\``;
}
