/**
 * Runs metered WebAssembly modules, each call in a fresh instance.
 *
 * SECURITY: behind this port a module can reach only the responses of `HandleHostCall`. The result may be forged by a
 * module that took over its host process: treat it as data about this one call only.
 */
export interface WasmRunner {
  /** Resolves when nothing of the call is running any more. Throws SANDBOX_* if the host process itself failed. */
  run(call: WasmCall, answer: HandleHostCall, signal: AbortSignal): Promise<WasmEnd>;
}

/** A module, identified by the hash of its bytes. */
export interface WasmModule {
  /** BLAKE3 in lower-case hex. */
  readonly hash: string;
  /** Called if no host process has the module yet. Throws if the bytes do not match the hash. */
  read(): Promise<Uint8Array>;
}

export interface WasmCall {
  readonly module: WasmModule;
  /** Calls with different places never share a process. */
  readonly place: string;
  readonly allowsSimd: boolean;
  readonly limits: WasmLimits;
  readonly input: Uint8Array;
}

export interface WasmLimits {
  readonly fuel: number;
  readonly memoryBytes: number;
  /** Processor time. Unlike fuel it varies between runs, and it is set only if the session has a limit. */
  readonly cpuMs?: number;
}

/** One call of a module to its host: see docs/formats/wasm-abi.md. */
export interface HostCall {
  readonly code: number;
  readonly request: Uint8Array;
}

/** Returns the bytes of the response, or a fault code. A thrown error ends the module's call. */
export type HandleHostCall = (call: HostCall) => Promise<Uint8Array | HostFault>;

/** Codes that a module gets instead of a response. The numbers are part of the ABI. */
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
  /** Processor time of its thread, including loading the module for this call. */
  readonly cpuMs: number;
  /** The module was stopped or lost: fuel and memory are those of its last host call, and it may have used more. */
  readonly isPartial: boolean;
}

export type WasmEnding =
  | { readonly kind: "answered"; readonly output: Uint8Array }
  /** The module reported that it failed, and why. */
  | { readonly kind: "failed"; readonly text: Uint8Array }
  | { readonly kind: "exceeded"; readonly limit: WasmLimitName; readonly allowed: number; readonly peak: number }
  | { readonly kind: "trapped"; readonly trap: WasmTrap }
  /** The module violates the ABI. */
  | { readonly kind: "broken"; readonly problem: AbiProblem }
  /** The meter refused the module. */
  | { readonly kind: "rejected"; readonly reason: string; readonly message: string }
  /** Stopped by the signal, or because a host call got no response. */
  | { readonly kind: "stopped" }
  /** The machine could not provide memory within the limit; another run may end differently. */
  | { readonly kind: "starved" };

export const WASM_LIMIT_NAMES = ["fuel", "memory", "depth", "cpu"] as const;
export type WasmLimitName = (typeof WASM_LIMIT_NAMES)[number];

/** Why the engine stopped a module's code. */
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
