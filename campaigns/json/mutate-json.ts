import type { Chance } from "../chance/chance.ts";
import { BYTE_MUTATIONS, type Mutation } from "../wire/mutate-bytes.ts";

const PIECES = [
  ...'{ } [ ] , : " \\ - 0 e .'.split(" "),
  " ",
  "null",
  "tru",
  "1e999",
  "9007199254740993",
  '"\\ud800"',
  "\\u0061",
  '"a":1,',
  ',"a":1',
  "[".repeat(129),
  '{"a":'.repeat(200),
  "\ufeff",
  "//",
  "NaN",
  "\u0000",
  "\u2028",
].map((piece) => Buffer.from(piece));
const BYTE_NAMES = Object.keys(BYTE_MUTATIONS);

/** A JSON text changed once to three times, mostly by pieces of JSON in the wrong place. */
export function mutateJson(chance: Chance, bytes: Uint8Array, other: Uint8Array): Uint8Array {
  let changed = bytes;
  for (let times = 1 + (chance.oneIn(3) ? chance.below(3) : 0); times > 0; times--) {
    if (chance.oneIn(2)) {
      changed = (BYTE_MUTATIONS[chance.pick(BYTE_NAMES)] as Mutation)(chance, changed, other);
      continue;
    }
    const at = chance.below(changed.length + 1);
    const rest = changed.subarray(at + (chance.oneIn(2) ? 1 : 0));
    changed = Buffer.concat([changed.subarray(0, at), chance.pick(PIECES), rest]);
  }
  return changed;
}
