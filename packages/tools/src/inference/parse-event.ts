import { KernelError } from "@narthex/contracts";

/** Not the strict JSON parser: the halves of a surrogate pair may arrive in two events and are valid once joined. */
export function parseEvent(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new KernelError("UPSTREAM_ERROR", "the provider sent an event that is no JSON");
  }
}
