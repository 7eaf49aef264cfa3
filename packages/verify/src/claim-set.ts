import type { ContentRole } from "@narthex/contracts";
import type { Claim } from "./claims.ts";
import { digestKey } from "./digest-key.ts";
import type { Slice } from "./wire/slice.ts";

/** Above this number of comparisons, an index is faster than comparing everything with everything. */
const MAX_COMPARISONS = 4096;

/** The claims of one record. SECURITY: a hostile record can have a hundred thousand of them and as many items. */
export class ClaimSet {
  readonly all: readonly Claim[];
  readonly #byValue: Map<string, Claim[]> | undefined;

  constructor(claims: readonly Claim[], itemCount: number) {
    this.all = claims;
    if (claims.length * Math.max(claims.length, itemCount) > MAX_COMPARISONS) this.#byValue = indexOf(claims);
  }

  /** Returns at least all claims with that role and value; the caller compares. */
  near(role: ContentRole, value: Slice): readonly Claim[] {
    if (this.#byValue === undefined) return this.all;
    return this.#byValue.get(keyOf(role, value)) ?? [];
  }
}

function indexOf(claims: readonly Claim[]): Map<string, Claim[]> {
  const index = new Map<string, Claim[]>();
  for (const claim of claims) {
    const key = keyOf(claim.role, claim.value);
    const known = index.get(key);
    if (known === undefined) index.set(key, [claim]);
    else known.push(claim);
  }
  return index;
}

/** A commitment whose length is not that of a hash opens nothing, so its first bytes suffice as a key. */
function keyOf(role: ContentRole, value: Slice): string {
  return `${role} ${digestKey(value.view().subarray(0, 32))}`;
}
