import type { PermittedCall } from "../decide/decide.ts";
import { Failed } from "../ending.ts";

export function duplicateId(call: PermittedCall): Failed {
  const message = `request id \`${call.requestId.slice(0, 80)}\` was used for another request; give every request its own id`;
  return new Failed("DUPLICATE_REQUEST_ID", message);
}

export function dedupeConflict(call: PermittedCall): Failed {
  const message = `dedupe key \`${call.dedupeKey.slice(0, 80)}\` belongs to another request; use a key per request`;
  return new Failed("DEDUPE_CONFLICT", message);
}
