import { JsonSyntaxError, KernelError, parseJson } from "@narthex/contracts";
import { type LeaseRequest, parseLeaseRequest } from "@narthex/kernel";

/** SECURITY: agents send leases too; no valid lease needs more text than this. */
const MAX_LEASE_CHARACTERS = 1024 * 1024;

/** Parses the JSON text of a requested lease; throws LEASE_INVALID. */
export function parseLeaseText(text: string): LeaseRequest {
  if (text.length > MAX_LEASE_CHARACTERS) {
    throw new KernelError("LEASE_INVALID", `the lease has more than ${MAX_LEASE_CHARACTERS} characters`);
  }
  try {
    return parseLeaseRequest(parseJson(text));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new KernelError("LEASE_INVALID", `the lease is not JSON: ${error.message}`);
  }
}
