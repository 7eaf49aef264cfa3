import { IMPORT_CALL_COST } from "./cost-table.ts";
import { Rejection } from "./meter-reason.ts";
import type { ModuleShape } from "./module-shape.ts";
import { COST } from "./opcode-table.ts";
import type { RewriteState } from "./rewrite-state.ts";
import { isFloat, LOOSE, type Signature, signatureText } from "./value-type.ts";

export function rewriteCall(state: RewriteState, at: number): void {
  const { source, module, operands } = state;
  const index = source.u32();
  const type = module.types[module.functionTypes[index] ?? -1];
  if (type === undefined) throw new Rejection("invalid", at, "a call of no function");
  const isImported = index < module.importedFunctions;
  state.charge(at, (COST[0x10] ?? 1) + (isImported ? IMPORT_CALL_COST : 0));
  call(state, type, at, 0);
  // The host may return any NaN.
  if (isImported) loosen(state, operands.size - type.results.length);
}

export function rewriteCallIndirect(state: RewriteState, at: number): void {
  const { source, module, operands } = state;
  const index = source.u32();
  const type = module.types[index];
  source.skipNumber();
  if (type === undefined) throw new Rejection("invalid", at, "a call of no type");
  state.charge(at, COST[0x11] ?? 1);
  call(state, type, at, 1);
  if (state.hostTypes.has(index)) loosen(state, operands.size - type.results.length);
}

/** Types of functions that a table may contain and that may be imported functions with float results. */
export function findHostTypes({ types, functionTypes, importedFunctions }: ModuleShape): Set<number> {
  const imported = functionTypes.slice(0, importedFunctions).flatMap((index) => types[index] ?? []);
  const giving = imported.filter(({ results }) => results.some(isFloat));
  if (giving.length === 0) return new Set();
  const texts = new Set(giving.map(signatureText));
  return new Set(types.flatMap((type, index) => (texts.has(signatureText(type)) ? [index] : [])));
}

function call(state: RewriteState, { params, results }: Signature, at: number, above: number): void {
  const { operands, writer } = state;
  const taken = params.length + above;
  state.canonicalizeTop(at, taken);
  if (writer.isDepthStale) {
    state.copyUpTo(at);
    writer.beforeCall();
  }
  writer.afterCall();
  operands.cut(operands.size - taken);
  operands.pushAll(results);
  state.hasCalls = true;
  state.maxPassed = Math.max(state.maxPassed, params.length + results.length);
}

function loosen({ operands }: RewriteState, from: number): void {
  for (let index = from; index < operands.size; index++) {
    const type = operands.types[index] ?? 0;
    if (!isFloat(type)) continue;
    operands.types[index] = type | LOOSE;
    operands.looseBelow = index + 1;
  }
}
