import type { MeterGlobals } from "./body-writer.ts";
import { ByteSink } from "./byte-sink.ts";
import { ByteSource } from "./byte-source.ts";
import type { MeterOptions, ModuleExports } from "./meter-options.ts";
import { Rejection } from "./meter-reason.ts";
import { type ModuleShape, SECTION, SECTION_ORDER } from "./module-shape.ts";
import { RESERVED_PREFIX } from "./read-module.ts";
import { findHostTypes } from "./rewrite-call.ts";
import { rewriteFunction } from "./rewrite-function.ts";
import { RewriteState } from "./rewrite-state.ts";
import { I32, I64 } from "./value-type.ts";

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
/** Limit on the size of instrumented code: this many times the size of the original, plus a constant. */
const MOST_GROWTH = 16;
const MOST_ADDED = 1 << 16;
const HAS_MAXIMUM = 1;
const KIND_FUNCTION = 0;
const KIND_MEMORY = 2;
const KIND_GLOBAL = 3;

export interface WrittenModule {
  readonly code: Uint8Array;
  readonly exports: ModuleExports;
  readonly usesSimd: boolean;
  readonly usesFloats: boolean;
}

/** Writes the module with metered code. Custom sections are omitted. */
export function writeModule(module: ModuleShape, options: MeterOptions): WrittenModule {
  const globals = { fuel: module.globalTypes.length, depth: module.globalTypes.length + 1 };
  const exports: ModuleExports = {
    fuel: `${RESERVED_PREFIX}fuel`,
    depth: `${RESERVED_PREFIX}depth`,
    start: module.startFunction === undefined ? undefined : `${RESERVED_PREFIX}start`,
    memory: module.memory === undefined ? undefined : `${RESERVED_PREFIX}memory`,
  };
  const state = new RewriteState(module, globals, { allowSimd: options.allowSimd, hostTypes: findHostTypes(module) });
  const out = new ByteSink(2 * module.bytes.length + 1024);
  const section = new ByteSink(1024);
  for (const byte of HEADER) out.byte(byte);
  for (const id of SECTION_ORDER) {
    section.at = 0;
    if (id === SECTION.table) writeTables(module, section);
    else if (id === SECTION.memory) writeMemory(module, section);
    else if (id === SECTION.global) writeGlobals(module, section);
    else if (id === SECTION.export) writeExports(module, exports, globals, section);
    else if (id === SECTION.code) writeCode(module, state, out);
    else if (id !== SECTION.start) copySection(module, id, section);
    if (section.at === 0) continue;
    out.byte(id);
    out.u32(section.at);
    out.copy(section.bytes, 0, section.at);
  }
  return {
    code: out.take(),
    exports,
    usesSimd: state.usesSimd,
    usesFloats: state.usesFloats || state.locals.hasFloats,
  };
}

function copySection({ sections, bytes }: ModuleShape, id: number, section: ByteSink): void {
  const span = sections.get(id);
  if (span !== undefined) section.copy(bytes, span.start, span.end);
}

function writeTables({ tables }: ModuleShape, section: ByteSink): void {
  if (tables.length === 0) return;
  section.u32(tables.length);
  for (const { type, initial, maximum } of tables) {
    section.byte(type);
    section.byte(HAS_MAXIMUM);
    section.u32(initial);
    section.u32(maximum);
  }
}

function writeMemory({ memory }: ModuleShape, section: ByteSink): void {
  if (memory === undefined) return;
  section.u32(1);
  section.byte(HAS_MAXIMUM);
  section.u32(memory.initial);
  section.u32(memory.maximum);
}

/** Fuel and depth are initially 0, so that code running before they are set traps at once. */
function writeGlobals(module: ModuleShape, section: ByteSink): void {
  const { globalEntries, globalTypes, importedGlobals, bytes } = module;
  section.u32(globalTypes.length - importedGlobals + 2);
  if (globalEntries !== undefined) section.copy(bytes, globalEntries.start, globalEntries.end);
  for (const byte of [I64, 1, 0x42, 0, 0x0b]) section.byte(byte);
  for (const byte of [I32, 1, 0x41, 0, 0x0b]) section.byte(byte);
}

function writeExports(module: ModuleShape, exports: ModuleExports, globals: MeterGlobals, section: ByteSink): void {
  const { exportEntries, startFunction, memory, bytes } = module;
  const added: (readonly [name: string, kind: number, index: number])[] = [
    [exports.fuel, KIND_GLOBAL, globals.fuel],
    [exports.depth, KIND_GLOBAL, globals.depth],
  ];
  if (exports.start !== undefined) added.push([exports.start, KIND_FUNCTION, startFunction ?? 0]);
  if (exports.memory !== undefined && memory !== undefined) added.push([exports.memory, KIND_MEMORY, 0]);
  section.u32((exportEntries?.count ?? 0) + added.length);
  if (exportEntries !== undefined) section.copy(bytes, exportEntries.start, exportEntries.end);
  for (const [name, kind, index] of added) {
    const encoded = new TextEncoder().encode(name);
    section.u32(encoded.length);
    section.all(encoded);
    section.byte(kind);
    section.u32(index);
  }
}

/** Writes the code section directly to the output, because it is by far the largest. */
function writeCode(module: ModuleShape, state: RewriteState, out: ByteSink): void {
  const span = module.sections.get(SECTION.code);
  if (span === undefined) return;
  const most = MOST_GROWTH * (span.end - span.start) + MOST_ADDED;
  const source = new ByteSource(module.bytes, span.start, span.end);
  const count = source.u32();
  out.byte(SECTION.code);
  const start = out.reserveLength();
  out.u32(count);
  for (let index = 0; index < count; index++) {
    const length = source.u32();
    const bodyStart = source.at;
    source.skip(length);
    const signature = module.types[module.functionTypes[module.importedFunctions + index] ?? -1];
    if (signature === undefined) throw new Rejection("invalid", bodyStart, "a function has no type");
    rewriteFunction(state, { signature, start: bodyStart, end: source.at }, out);
    if (out.at - start > most) throw new Rejection("too-large", bodyStart);
  }
  out.fillLength(start);
}
