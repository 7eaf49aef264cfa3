import type { JsonValue } from "@narthex/contracts";
import type { Chance } from "../chance/chance.ts";
import { anyText } from "../wire/any-message.ts";

const NUMBERS = [0, 1, -1, 0.5, 100, 1e21, 1e-7, 2 ** 53, -(2 ** 53), 5e-324, Number.MAX_VALUE, 333333333.3333333];
const KEYS = ["a", "b", "aa", "", "__proto__", "constructor", "1", "10", "é", "\u{1f600}", "\ufb33"];

/** A random JSON value, at most so deep. */
export function anyJson(chance: Chance, depth = 3): JsonValue {
  switch (chance.below(depth > 0 ? 7 : 5)) {
    case 0:
      return chance.pick([null, true, false]);
    case 1:
      return chance.pick(NUMBERS);
    case 2:
      return anyDouble(chance);
    case 3:
    case 4:
      return anyText(chance);
    case 5:
      return chance.several(4, () => anyJson(chance, depth - 1));
    default:
      return Object.fromEntries(chance.several(5, () => [chance.pick(KEYS), anyJson(chance, depth - 1)]));
  }
}

const view = new DataView(new ArrayBuffer(8));

/** Of every size alike. */
function anyDouble(chance: Chance): number {
  view.setUint32(0, chance.next());
  view.setUint32(4, chance.next());
  const number = view.getFloat64(0);
  return Number.isFinite(number) && number !== 0 ? number : chance.below(1000);
}
