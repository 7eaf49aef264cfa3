import type { ByteSink } from "./byte-sink.ts";
import { BLOCK } from "./control-stack.ts";
import { LEAF_SLOTS, SLOTS_PER_DEPTH, SLOTS_PER_UNIT_LOG2 } from "./cost-table.ts";
import { Rejection } from "./meter-reason.ts";
import { rewriteInstruction } from "./rewrite-instruction.ts";
import type { RewriteState } from "./rewrite-state.ts";
import type { Signature } from "./value-type.ts";

const NO_TYPES = new Uint8Array(0);

/** Rewrites the function whose body lies between `start` and `end` in one pass, and writes it with its size. */
export function rewriteFunction(
  state: RewriteState,
  { signature, start, end }: { readonly signature: Signature; readonly start: number; readonly end: number },
  out: ByteSink,
): void {
  const { source, writer, controls, locals } = state;
  source.at = start;
  source.end = end;
  locals.read(source, signature, state);
  state.beginFunction();
  controls.push(BLOCK, { params: NO_TYPES, results: signature.results }, 0);
  writer.beginRun();
  writer.addCost(locals.count >> SLOTS_PER_UNIT_LOG2);
  while (controls.size > 0) rewriteInstruction(state);
  if (!source.isAtEnd) throw new Rejection("invalid", source.at, "a function is longer than its body");
  writer.endRun();
  writeFunction(state, out);
}

function writeFunction(state: RewriteState, out: ByteSink): void {
  const { writer } = state;
  const header = state.header;
  header.at = 0;
  writeLocals(state, header);
  const units = depthUnits(state);
  if (units > 0) writer.writeDepthTest(header, units);
  out.u32(header.at + writer.sink.at);
  out.copy(header.bytes, 0, header.at);
  out.copy(writer.sink.bytes, 0, writer.sink.at);
}

function writeLocals({ locals, writer, source }: RewriteState, header: ByteSink): void {
  header.u32(locals.groups + writer.addedLocals.length);
  header.copy(source.bytes, locals.groupsStart, locals.groupsEnd);
  for (const type of writer.addedLocals) {
    header.byte(1);
    header.byte(type);
  }
}

/**
 * Units of call depth that the function takes. V8 keeps at most one slot for each parameter, local, operand and passed
 * value, so this bounds the size of a frame. Small functions without calls are covered by the reserve.
 */
function depthUnits({ locals, writer, operands, hasCalls, maxPassed, allowSimd }: RewriteState): number {
  const width = allowSimd ? 2 : 1;
  const slots = locals.slots + (writer.addedLocals.length + operands.maxSize + maxPassed) * width;
  if (!hasCalls && slots <= LEAF_SLOTS) return 0;
  return 1 + Math.floor(slots / SLOTS_PER_DEPTH);
}
