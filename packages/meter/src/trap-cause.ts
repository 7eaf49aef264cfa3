/** In the depth global: the machine could not give memory that was within the cap. No depth gets so low. */
export const HOST_MEMORY_MARK = -0x8000_0000;

/**
 * How metered code ended that trapped:
 * - `fuel` and `depth`: what was set for it is used up;
 * - `memory`: the machine failed, and another run may end in another way;
 * - `trap`: it did what the specification forbids.
 */
export type TrapCause = "fuel" | "depth" | "memory" | "trap";

/** Tells from the two globals, after a trap, why it came. The instance is of no use any more. */
export function readTrapCause(globals: { readonly fuel: bigint; readonly depth: number }): TrapCause {
  if (globals.fuel < 0n) return "fuel";
  if (globals.depth === HOST_MEMORY_MARK) return "memory";
  return globals.depth < 0 ? "depth" : "trap";
}
