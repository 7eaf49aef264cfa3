import { readCount, readField, KernelError, readList, readText } from "@narthex/contracts";
import type { HeaderList } from "@narthex/kernel";
import type { InferenceProvider } from "./inference-provider.ts";
import { retryWaitMs } from "./retry-wait.ts";

/** What a provider said instead of an answer. */
export interface ProviderRefusal {
  /** Undefined if it was said inside a stream. */
  readonly status?: number;
  readonly headers: HeaderList;
  /** JSON if it was JSON, else its text. */
  readonly body: unknown;
}

const MAX_MESSAGE = 300;
/** Too many requests, and the three ways to say overloaded. */
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
/** Waiting does not help. */
const NO_CREDIT = "insufficient_quota";

/** RATE_LIMITED if it is worth waiting, else UPSTREAM_ERROR. */
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

/** SECURITY: not what the provider said of it, in which the key, or a part of it, may stand. */
function keyRefused({ key }: InferenceProvider, name: string, shown: string): KernelError {
  const asked = key === undefined ? "a request without a key" : `the key \`${key}\`, or what it was used for`;
  return new KernelError("UPSTREAM_ERROR", `${name} refused ${asked} ${shown}: see the secret in the configuration`);
}

/** Google sends a list of one in some places. */
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

/** One line of it, in backticks that it cannot end. */
function messageOf(error: unknown): string {
  const text = typeof error === "string" ? error : (readText(error, "message") ?? readText(error, "detail") ?? "");
  const line = text
    .slice(0, MAX_MESSAGE)
    .replace(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}`]+/gu, " ")
    .trim();
  return line === "" ? "" : `: \`${line}\``;
}
