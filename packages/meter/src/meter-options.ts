import type { MeterReason } from "./meter-reason.ts";
import type { Signature } from "./value-type.ts";

export interface MeterOptions {
  /** Memory may grow to so many pages of 64 KB, and always can. */
  readonly memoryPages: number;
  /** A table may grow to so many entries. All tables together may begin with as many, and grow to ten times of it. */
  readonly tableEntries: number;
  /** Units of call depth; `stackBytesFor` says what stack they need. */
  readonly maxDepth: number;
  /** False for tools whose calls must repeat: the NaNs of SIMD lanes are not made canonical. */
  readonly allowSimd: boolean;
  /** Imports that may be there, as `module.name`. */
  readonly imports: ReadonlySet<string>;
  /** What these are: functions of this type. Without it they may be functions of any type, and globals. */
  readonly importType?: Signature;
}

/** Names under which the rewritten module exports what its host needs. No module that is taken has such a name itself. */
export interface ModuleExports {
  /** A mutable i64: set before every call, read after it. */
  readonly fuel: string;
  /** A mutable i32: set to `maxDepth` before every call. */
  readonly depth: string;
  /** What was the start function: call it first, after fuel and depth were set. */
  readonly start: string | undefined;
  readonly memory: string | undefined;
}

export interface CustomSection {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface ModuleFacts {
  readonly usesSimd: boolean;
  readonly usesFloats: boolean;
  /** Functions of its own, without those that are imported. */
  readonly functions: number;
  /** Imported functions whose results are floats, or exported functions with float parameters: bits from outside. */
  readonly takesFloats: boolean;
  readonly memoryPages: { readonly initial: number; readonly maximum: number } | undefined;
}

export type Metered =
  | {
      readonly ok: true;
      readonly code: Uint8Array;
      readonly exports: ModuleExports;
      /** Custom sections of the original, which the rewritten module has no more. */
      readonly declaration: readonly CustomSection[];
      readonly facts: ModuleFacts;
    }
  | { readonly ok: false; readonly reason: MeterReason; readonly message: string; readonly offset: number };
