import type { CustomSection } from "./meter-options.ts";
import type { Signature } from "./value-type.ts";

export const SECTION = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
  tag: 13,
} as const;

/** The order of sections in a module. Tag sections are not supported. */
export const SECTION_ORDER: readonly number[] = [
  SECTION.type,
  SECTION.import,
  SECTION.function,
  SECTION.table,
  SECTION.memory,
  SECTION.global,
  SECTION.export,
  SECTION.start,
  SECTION.element,
  SECTION.dataCount,
  SECTION.code,
  SECTION.data,
];

export interface Limits {
  readonly initial: number;
  /** At most the cap. */
  readonly maximum: number;
}

export interface TableShape extends Limits {
  readonly type: number;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Facts about a module that are known before its code is read. */
export interface ModuleShape {
  readonly bytes: Uint8Array;
  readonly sections: ReadonlyMap<number, Span>;
  readonly customSections: readonly CustomSection[];
  readonly types: readonly Signature[];
  /** The type index of every function, imported ones first. */
  readonly functionTypes: readonly number[];
  readonly importedFunctions: number;
  readonly tables: readonly TableShape[];
  readonly memory: Limits | undefined;
  /** The type of every global, imported ones first. */
  readonly globalTypes: readonly number[];
  /** Position of the entries of the global section, after their count. */
  readonly globalEntries: Span | undefined;
  readonly importedGlobals: number;
  readonly exportEntries: (Span & { readonly count: number }) | undefined;
  readonly exportedFunctions: readonly number[];
  readonly startFunction: number | undefined;
}
