import { ByteSource } from "./byte-source.ts";
import type { CustomSection, MeterOptions } from "./meter-options.ts";
import { Rejection } from "./meter-reason.ts";
import { type Limits, type ModuleShape, SECTION, type Span, type TableShape } from "./module-shape.ts";
import { readElements, skipConstant } from "./read-constants.ts";
import { readMemory, readTable, rejectedType } from "./read-limits.ts";
import { isValueType, type Signature, signatureText, V128 } from "./value-type.ts";

/** Prefix of export names that are reserved for the meter. */
export const RESERVED_PREFIX = "narthex:meter:";

const HEADER_LENGTH = 8;
const MAX_TABLES = 100;
/** All tables together may grow to this many times the limit of one table. */
const MAX_TABLE_GROWTH = 10;
/** SECURITY: a section takes a few bytes in the module, but a hundred times as much in memory. */
const MAX_CUSTOM_SECTIONS = 1000;
const MAX_TYPES = 100_000;
/** Every call creates all of them again. */
const MAX_EXPORTS = 10_000;
const FUNCTION_TYPE = 0x60;
const EXTERNAL = { function: 0, table: 1, memory: 2, global: 3 } as const;
/** Maximum length of names from a module in messages. */
const SHOWN_CHARACTERS = 80;

/** Reads everything except the code, and rejects anything that is not explicitly supported. */
export function readModule(bytes: Uint8Array, options: MeterOptions): ModuleShape {
  const sections = new Map<number, Span>();
  const customSections: CustomSection[] = [];
  const source = new ByteSource(bytes, HEADER_LENGTH);
  while (!source.isAtEnd) {
    const at = source.at;
    const id = source.byte();
    const length = source.u32();
    const start = source.at;
    source.skip(length);
    if (id === SECTION.custom) {
      if (customSections.length === MAX_CUSTOM_SECTIONS) throw new Rejection("too-many-parts", at);
      customSections.push(readCustom(bytes, start, source.at));
    } else if (id === SECTION.tag) throw new Rejection("exceptions", at);
    else if (id > SECTION.tag) throw new Rejection("unknown-section", at, `number ${id}`);
    else if (sections.has(id)) throw new Rejection("invalid", at, "a section is there twice");
    else sections.set(id, { start, end: source.at });
  }
  return new ModuleReader(bytes, options, sections, customSections).read();
}

function readCustom(bytes: Uint8Array, start: number, end: number): CustomSection {
  const source = new ByteSource(bytes, start, end);
  const name = source.name();
  return { name, bytes: bytes.slice(source.at, end) };
}

class ModuleReader {
  readonly #bytes: Uint8Array;
  readonly #options: MeterOptions;
  readonly #sections: ReadonlyMap<number, Span>;
  readonly #customSections: readonly CustomSection[];
  readonly #types: Signature[] = [];
  readonly #functionTypes: number[] = [];
  readonly #tables: TableShape[] = [];
  readonly #globalTypes: number[] = [];
  readonly #exportedFunctions: number[] = [];
  #exports = 0;
  #elements = 0;
  #memory: Limits | undefined;
  #globalEntries: Span | undefined;
  #exportEntries: (Span & { readonly count: number }) | undefined;

  constructor(
    bytes: Uint8Array,
    options: MeterOptions,
    sections: ReadonlyMap<number, Span>,
    customSections: readonly CustomSection[],
  ) {
    this.#bytes = bytes;
    this.#options = options;
    this.#sections = sections;
    this.#customSections = customSections;
  }

  read(): ModuleShape {
    this.#each(SECTION.type, (source) => this.#readSignature(source));
    this.#each(SECTION.import, (source) => this.#readImport(source));
    const importedFunctions = this.#functionTypes.length;
    const importedGlobals = this.#globalTypes.length;
    this.#each(SECTION.function, (source) => this.#functionTypes.push(source.u32()));
    this.#each(SECTION.table, (source) => this.#tables.push(readTable(source, this.#options.tableEntries)));
    this.#checkTables();
    this.#each(SECTION.memory, (source) => this.#readMemory(source));
    this.#globalEntries = this.#each(SECTION.global, (source) => this.#readGlobal(source));
    this.#exportEntries = this.#each(SECTION.export, (source) => this.#readExport(source));
    this.#each(SECTION.element, (source) => this.#readElements(source));
    this.#each(SECTION.data, readData);
    return {
      bytes: this.#bytes,
      sections: this.#sections,
      customSections: this.#customSections,
      types: this.#types,
      functionTypes: this.#functionTypes,
      importedFunctions,
      tables: this.#tables,
      memory: this.#memory,
      globalTypes: this.#globalTypes,
      globalEntries: this.#globalEntries,
      importedGlobals,
      exportEntries: this.#exportEntries,
      exportedFunctions: this.#exportedFunctions,
      startFunction: this.#readStart(),
    };
  }

  /** Reads the entries of a section and returns their position. */
  #each(id: number, read: (source: ByteSource) => void): (Span & { readonly count: number }) | undefined {
    const span = this.#sections.get(id);
    if (span === undefined) return undefined;
    const source = new ByteSource(this.#bytes, span.start, span.end);
    const count = source.u32();
    const start = source.at;
    for (let entry = 0; entry < count; entry++) read(source);
    if (!source.isAtEnd) throw new Rejection("invalid", source.at, "a section is longer than its entries");
    return { start, end: span.end, count };
  }

  #readSignature(source: ByteSource): void {
    const at = source.at;
    if (this.#types.length === MAX_TYPES) throw new Rejection("too-many-parts", at);
    if (source.byte() !== FUNCTION_TYPE) throw new Rejection("garbage-collection", at);
    this.#types.push({ params: this.#readTypes(source), results: this.#readTypes(source) });
  }

  #readTypes(source: ByteSource): Uint8Array {
    const at = source.at;
    const types = source.span();
    for (const type of types) this.#checkType(type, at);
    return types;
  }

  #checkType(type: number, at: number): void {
    if (!isValueType(type)) throw rejectedType(type, at);
    if (type === V128 && !this.#options.allowSimd) throw new Rejection("simd", at);
  }

  #readGlobalType(source: ByteSource): void {
    const at = source.at;
    const type = source.byte();
    this.#checkType(type, at);
    source.skip(1);
    this.#globalTypes.push(type);
  }

  #readImport(source: ByteSource): void {
    const at = source.at;
    const module = source.name();
    const name = source.name();
    const kind = source.byte();
    if (kind === EXTERNAL.memory) throw new Rejection("imported-memory", at);
    if (kind === EXTERNAL.table) throw new Rejection("imported-table", at);
    if (kind > EXTERNAL.global) throw new Rejection("exceptions", at);
    // SECURITY: `a` and `b.c` must not pass for `a.b` and `c`, so the first part of a granted name has no dot.
    if (module.includes(".") || !this.#options.imports.has(`${module}.${name}`))
      throw new Rejection("import-not-granted", at, `\`${`${module}.${name}`.slice(0, SHOWN_CHARACTERS)}\``);
    if (kind === EXTERNAL.function) this.#functionTypes.push(source.u32());
    else this.#readGlobalType(source);
    const { importType } = this.#options;
    if (importType === undefined) return;
    const type = kind === EXTERNAL.function ? this.#types[this.#functionTypes.at(-1) ?? -1] : undefined;
    if (type === undefined || signatureText(type) !== signatureText(importType))
      throw new Rejection("import-not-granted", at, `\`${module}.${name}\` has another type`);
  }

  /** SECURITY: tables are created for each call before any fuel is charged. */
  #checkTables(): void {
    const at = this.#sections.get(SECTION.table)?.start ?? 0;
    const cap = this.#options.tableEntries;
    let [initial, maximum] = [0, 0];
    for (const table of this.#tables) {
      initial += table.initial;
      maximum += table.maximum;
    }
    if (initial > cap)
      throw new Rejection("table-above-cap", at, `${initial} entries together, where ${cap} are the most`);
    if (this.#tables.length > MAX_TABLES || maximum > MAX_TABLE_GROWTH * cap)
      throw new Rejection("too-many-tables", at, `${this.#tables.length}, which can have ${maximum} entries together`);
  }

  #readMemory(source: ByteSource): void {
    if (this.#memory !== undefined) throw new Rejection("multi-memory", source.at);
    this.#memory = readMemory(source, this.#options.memoryPages);
  }

  #readGlobal(source: ByteSource): void {
    this.#readGlobalType(source);
    skipConstant(source);
  }

  #readExport(source: ByteSource): void {
    const at = source.at;
    if (++this.#exports > MAX_EXPORTS) throw new Rejection("too-many-parts", at);
    const name = source.name();
    if (name.startsWith(RESERVED_PREFIX)) throw new Rejection("reserved-name", at);
    const kind = source.byte();
    const index = source.u32();
    if (kind === EXTERNAL.function) this.#exportedFunctions.push(index);
  }

  /** SECURITY: segments fill tables for each call before any fuel is charged. */
  #readElements(source: ByteSource): void {
    const at = source.at;
    const cap = this.#options.tableEntries;
    this.#elements += readElements(source);
    if (this.#elements > cap)
      throw new Rejection("table-above-cap", at, `more than ${cap} entries in segments together`);
  }

  #readStart(): number | undefined {
    const span = this.#sections.get(SECTION.start);
    return span === undefined ? undefined : new ByteSource(this.#bytes, span.start, span.end).u32();
  }
}

function readData(source: ByteSource): void {
  const at = source.at;
  const flags = source.u32();
  if (flags === 2 && source.u32() !== 0) throw new Rejection("multi-memory", at);
  if (flags !== 1) skipConstant(source);
  source.span();
}
