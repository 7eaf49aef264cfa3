/**
 * Runs metered WebAssembly modules, each call in a fresh instance.
 *
 * SECURITY: behind this port a module reaches nothing but the answers of `AnswerHostCall`. What comes back may have been
 * made up by a module that took its host over: it is data about this one call, and no more.
 */
export interface WasmRunner {
  /** Resolves when nothing of the call runs any more. Throws SANDBOX_* if the host itself failed. */
  run(call: WasmCall, answer: HandleHostCall, signal: AbortSignal): Promise<WasmEnd>;
}

/** A module by the hash of its bytes. */
export interface WasmModule {
  /** BLAKE3 in lower-case hex. */
  readonly hash: string;
  /** Asked for where no host has it yet. Throws if the bytes are not those of the hash. */
  read(): Promise<Uint8Array>;
}

export interface WasmCall {
  readonly module: WasmModule;
  /** Calls of different places never share a process. */
  readonly place: string;
  readonly allowsSimd: boolean;
  readonly limits: WasmLimits;
  readonly input: Uint8Array;
}

export interface WasmLimits {
  readonly fuel: number;
  readonly memoryBytes: number;
  /** On the processor. Not the same each time, as fuel is, and there only where the session has a limit. */
  readonly cpuMs?: number;
}

/** One call of a module to its host: see docs/formats/wasm-abi.md. */
export interface HostCall {
  readonly code: number;
  readonly request: Uint8Array;
}

/** The bytes of an answer, or why there are none. What is thrown ends the module's call. */
export type HandleHostCall = (call: HostCall) => Promise<Uint8Array | HostFault>;

/** What a module is told in the place of an answer. The numbers are part of the ABI. */
export const HOST_FAULTS = {
  invalid: -1,
  denied: -2,
  not_found: -3,
  too_large: -4,
  failed: -5,
} as const;
export type HostFault = keyof typeof HOST_FAULTS;

export interface WasmEnd {
  readonly ending: WasmEnding;
  readonly usage: WasmUsage;
}

export interface WasmUsage {
  readonly fuel: number;
  readonly memoryBytes: number;
  /** What its thread used of the processor, and loading it for this call. */
  readonly cpuMs: number;
  /** It was stopped or lost: fuel and memory are those of its last host call, and it may have used more. */
  readonly isPartial: boolean;
}

export type WasmEnding =
  | { readonly kind: "answered"; readonly output: Uint8Array }
  /** The module says itself that it failed, and why. */
  | { readonly kind: "failed"; readonly text: Uint8Array }
  | { readonly kind: "exceeded"; readonly limit: WasmLimitName; readonly allowed: number; readonly peak: number }
  | { readonly kind: "trapped"; readonly trap: WasmTrap }
  /** It does not keep to the ABI. */
  | { readonly kind: "broken"; readonly problem: AbiProblem }
  /** The meter does not take it. */
  | { readonly kind: "rejected"; readonly reason: string; readonly message: string }
  /** By the signal, or because a host call was not answered. */
  | { readonly kind: "stopped" }
  /** The machine could not give memory that was within the limit: another run may end in another way. */
  | { readonly kind: "starved" };

export const WASM_LIMIT_NAMES = ["fuel", "memory", "depth", "cpu"] as const;
export type WasmLimitName = (typeof WASM_LIMIT_NAMES)[number];

/** Why a module's code was ended by the engine. */
export const WASM_TRAPS = [
  "unreachable code was reached",
  "a number was divided by zero",
  "an integer overflowed",
  "memory was used that is not there",
  "a table was used beyond its end",
  "a function was called by another type",
  "a segment does not fit",
  "a reference was null",
  "its code was ended",
] as const;
export type WasmTrap = (typeof WASM_TRAPS)[number];

export const ABI_PROBLEMS = [
  "it exports no memory",
  "it exports no function `alloc` that takes and gives an i32",
  "it exports no function `run` that takes two i32 and gives an i64",
  "`alloc` gave a place outside of its memory",
  "`run` gave a place outside of its memory",
  "it handed the host a place outside of its memory",
  "its answer is too long",
] as const;
export type AbiProblem = (typeof ABI_PROBLEMS)[number];
