import { KernelError } from "@narthex/contracts";
import { readField, readText } from "./to-arguments-json.ts";

const MAX_MESSAGE = 500;

/** What a provider said in its stream instead of going on. */
export function toProviderError(error: unknown): KernelError {
  const nested = readField(error, "error") ?? error;
  const said = readText(nested, "message") ?? (typeof nested === "string" ? nested : "no reason was given");
  const message = said.slice(0, MAX_MESSAGE).toWellFormed().replace(/\s+/g, " ");
  return new KernelError("UPSTREAM_ERROR", `the provider ended the stream: ${message}`, { cause: error });
}

/** SECURITY: half a message must not be acted upon: a call whose arguments had not come yet looks like one without any. */
export function streamTruncated(): KernelError {
  return new KernelError("UPSTREAM_ERROR", "the provider's stream ended before the message did: ask again");
}
