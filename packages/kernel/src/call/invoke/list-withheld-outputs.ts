import { ContentPlace, toHex } from "@narthex/contracts";
import type { CallTrail } from "../call-trail.ts";
import { Failed } from "../ending.ts";

/** Adds to a failure how its caller can read the output that the record, and so the view, must not contain. */
export function listWithheldOutputs(failed: Failed, { outputs }: CallTrail): Failed {
  const withheld = outputs.filter(({ place }) => place === ContentPlace.NONE);
  if (withheld.length === 0) return failed;
  const named = withheld.map(({ digest, size }) => `${toHex(digest)} (${size} bytes)`).join(", ");
  const { violations, retryable, retryAfterMs } = failed;
  const message = `${failed.message}; what was printed can be read with result_read: ${named}`;
  return new Failed(failed.code, message, { violations, retryable, retryAfterMs });
}
