import type { Chance } from "../chance/chance.ts";

/** Another value made of one, and perhaps of a second one like it. */
export type Mutation = (chance: Chance, bytes: Uint8Array, other: Uint8Array) => Uint8Array;

/** Changes that know nothing of what the bytes mean. */
export const BYTE_MUTATIONS: Readonly<Record<string, Mutation>> = {
  flip(chance, bytes) {
    const changed = Uint8Array.from(bytes);
    for (let flips = 1 + chance.below(3); flips > 0 && changed.length > 0; flips--) {
      const at = chance.below(changed.length);
      changed[at] = (changed[at] ?? 0) ^ (1 << chance.below(8));
    }
    return changed;
  },
  overwrite(chance, bytes) {
    const changed = Uint8Array.from(bytes);
    if (changed.length > 0) changed[chance.below(changed.length)] = chance.next();
    return changed;
  },
  insert(chance, bytes) {
    const at = chance.below(bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), chance.bytes(1 + chance.below(4)), bytes.subarray(at)]);
  },
  remove(chance, bytes) {
    const at = chance.below(bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + chance.below(4))]);
  },
  truncate: (chance, bytes) => bytes.slice(0, chance.below(bytes.length + 1)),
  repeat(chance, bytes) {
    const from = chance.below(bytes.length + 1);
    const to = from + chance.below(bytes.length + 1 - from);
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  },
  splice(chance, bytes, other) {
    const head = bytes.subarray(0, chance.below(bytes.length + 1));
    return Buffer.concat([head, other.subarray(chance.below(other.length + 1))]);
  },
};
