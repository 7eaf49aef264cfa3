/**
 * Value of the depth global after the machine failed to provide memory within the cap. Regular depths never get this
 * low.
 */
export const HOST_MEMORY_MARK = -0x8000_0000;

/**
 * Why metered code trapped:
 * - `fuel` and `depth`: the limit was reached;
 * - `memory`: the machine failed, and another run may end differently;
 * - `trap`: the code trapped according to the WebAssembly specification.
 */
export type TrapCause = "fuel" | "depth" | "memory" | "trap";

/** Determines the cause of a trap from the two globals. The instance cannot be used any more. */
export function readTrapCause(globals: { readonly fuel: bigint; readonly depth: number }): TrapCause {
  if (globals.fuel < 0n) return "fuel";
  if (globals.depth === HOST_MEMORY_MARK) return "memory";
  return globals.depth < 0 ? "depth" : "trap";
}
