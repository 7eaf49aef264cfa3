import { KernelError } from "@narthex/contracts";
import { fieldOf, textOf } from "./loose-fields.ts";

const MAX_MESSAGE = 500;

/** What a provider said in its stream instead of going on. */
export function providerFault(error: unknown): KernelError {
  const nested = fieldOf(error, "error") ?? error;
  const said = textOf(nested, "message") ?? (typeof nested === "string" ? nested : "no reason was given");
  const message = said.slice(0, MAX_MESSAGE).toWellFormed().replace(/\s+/g, " ");
  return new KernelError("UPSTREAM_ERROR", `the provider ended the stream: ${message}`, { cause: error });
}

/** SECURITY: half a message must not be acted upon: a call whose arguments had not come yet looks like one without any. */
export function endedEarly(): KernelError {
  return new KernelError("UPSTREAM_ERROR", "the provider's stream ended before the message did: ask again");
}
