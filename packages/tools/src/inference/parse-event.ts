import { KernelError } from "@narthex/contracts";

/** Not the strict reader: halves of a character may come in two events, and make one when they are put together. */
export function parseEvent(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new KernelError("UPSTREAM_ERROR", "the provider sent an event that is no JSON");
  }
}
