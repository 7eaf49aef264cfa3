import { KernelError } from "@narthex/contracts";
import { readField, readText } from "./to-arguments-json.ts";

const MAX_MESSAGE = 500;

/** Converts an error that a provider sent in its stream. */
export function toProviderError(error: unknown): KernelError {
  const nested = readField(error, "error") ?? error;
  const said = readText(nested, "message") ?? (typeof nested === "string" ? nested : "no reason was given");
  const message = said.slice(0, MAX_MESSAGE).toWellFormed().replace(/\s+/g, " ");
  return new KernelError("UPSTREAM_ERROR", `the provider ended the stream: ${message}`, { cause: error });
}

/**
 * SECURITY: an incomplete message must not be acted on: a call whose arguments have not arrived yet looks like one
 * without arguments.
 */
export function streamTruncated(): KernelError {
  return new KernelError("UPSTREAM_ERROR", "the provider's stream ended before the message did: ask again");
}
