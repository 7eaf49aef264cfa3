import type { MeterReason } from "./meter-reason.ts";
import type { Signature } from "./value-type.ts";

export interface MeterOptions {
  /** Maximum size of the memory in pages of 64 KB. Growth up to it always succeeds, or the call ends. */
  readonly memoryPages: number;
  /**
   * Maximum number of entries of a table. The initial sizes of all tables together have the same limit, and their
   * maximum sizes together ten times as much.
   */
  readonly tableEntries: number;
  /** Units of call depth; `stackBytesFor` computes the stack they need. */
  readonly maxDepth: number;
  /** False for tools whose calls must be reproducible: the NaNs of SIMD lanes are not canonicalized. */
  readonly allowSimd: boolean;
  /** Permitted imports, as `module.name`. */
  readonly imports: ReadonlySet<string>;
  /**
   * The type that all imports must have; they must be functions. Without it functions of any type and globals are
   * permitted.
   */
  readonly importType?: Signature;
}

/** Export names that the rewriter adds for the host. Modules that already use such a name are rejected. */
export interface ModuleExports {
  /** A mutable i64: set it before every call, read it after. */
  readonly fuel: string;
  /** A mutable i32: set it to `maxDepth` before every call. */
  readonly depth: string;
  /** The original start function: call it first, after setting fuel and depth. */
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
  /** Number of functions, without imported ones. */
  readonly functions: number;
  /**
   * Whether floats can come from outside: an imported function has a float result, or an exported one a float
   * parameter.
   */
  readonly takesFloats: boolean;
  readonly memoryPages: { readonly initial: number; readonly maximum: number } | undefined;
}

export type Metered =
  | {
      readonly ok: true;
      readonly code: Uint8Array;
      readonly exports: ModuleExports;
      /** Custom sections of the original, which the rewritten module does not contain. */
      readonly declaration: readonly CustomSection[];
      readonly facts: ModuleFacts;
    }
  | { readonly ok: false; readonly reason: MeterReason; readonly message: string; readonly offset: number };
