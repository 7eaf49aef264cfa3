import type { MessageBounds } from "../../files/worker/worker-message.ts";

/** Header of a message from the kernel to a host; messages of one job carry its id. */
export type HostRequest =
  /** The payload is the original module. */
  | { readonly type: "load"; readonly key: string; readonly options: LoadOptions }
  /** The payload is the input. */
  | { readonly type: "run"; readonly key: string; readonly fuel: number; readonly cpuMs?: number | undefined }
  /**
   * Response to the job's pending host call. `status` is 0, or a number that the module gets instead of the payload.
   */
  | { readonly type: "answer"; readonly status: number }
  | { readonly type: "stop" };

export interface LoadOptions {
  readonly memoryPages: number;
  readonly allowsSimd: boolean;
}

/** Header of a message from a host. */
export type HostReply =
  | { readonly type: "ready" }
  /** The payload is the declaration that the module contains, if any. */
  | { readonly type: "loaded"; readonly isDeclared: boolean; readonly cpuMs: number }
  | { readonly type: "rejected"; readonly reason: string; readonly message: string; readonly cpuMs: number }
  /** No module is loaded under the key of the run. */
  | { readonly type: "missing" }
  | { readonly type: "host_call"; readonly code: number }
  | ({ readonly type: "ended"; readonly use?: ModuleUse | undefined } & HostEnding);

/** Resource usage. For a run that was stopped, fuel and memory are those of its last host call, and so lower bounds. */
export interface ModuleUse {
  readonly fuel: number;
  readonly memoryPages: number;
  /** CPU time of its thread. */
  readonly cpuMs: number;
}

/** The payload is the output, or the failure text that a module returned. */
export type HostEnding =
  /** `starved`: the machine could not provide memory within the limit. */
  | { readonly how: "answered" | "failed" | "stopped" | "starved" }
  | { readonly how: "exceeded"; readonly limit: LimitWord; readonly allowed: number; readonly peak: number }
  | { readonly how: "trapped"; readonly trap: TrapWord }
  | { readonly how: "broken"; readonly problem: ProblemWord };

export const LIMIT_WORDS = ["fuel", "memory", "depth", "cpu"] as const;
export type LimitWord = (typeof LIMIT_WORDS)[number];

export const TRAP_WORDS = [
  "unreachable",
  "division",
  "overflow",
  "memory",
  "table",
  "signature",
  "segment",
  "null",
  "other",
] as const;
export type TrapWord = (typeof TRAP_WORDS)[number];

export const PROBLEM_WORDS = [
  "no-memory",
  "no-alloc",
  "no-run",
  "alloc-place",
  "run-place",
  "request-place",
  "answer-length",
] as const;
export type ProblemWord = (typeof PROBLEM_WORDS)[number];

/** Custom section with a module's declaration. */
export const DECLARATION_SECTION = "narthex.tool";
/** The only permitted import of a module. */
export const HOST_IMPORT = { module: "narthex", name: "host" } as const;

/**
 * Call depth that a host call uses up while its response is written, for the host's own stack frames: a module may call
 * its host again from `alloc`, which is called for the response.
 */
export const HOST_CALL_DEPTH = 8;

/** Fuel for a host call; each byte costs one more, in both directions. */
export const HOST_CALL_FUEL = 1000;

const MB = 1024 * 1024;
export const MAX_MODULE_BYTES = 32 * MB;
/** Maximum size of an output, of a host call's request and of its response. */
export const MAX_MESSAGE_BYTES = 16 * MB;
export const MAX_REASON_LENGTH = 64;
export const MAX_REJECTION_LENGTH = 500;

export const HOST_REQUEST_BOUNDS: MessageBounds = { headerBytes: 64 * 1024, payloadBytes: 100 * MB };
/** SECURITY: limits on messages from a host, which a module may have taken over. */
export const HOST_REPLY_BOUNDS: MessageBounds = { headerBytes: 16 * 1024, payloadBytes: MAX_MESSAGE_BYTES };

/** Maximum call depth, in units of the meter; the threads' stacks are large enough for it. */
export const MAX_DEPTH = 10_000;
export const MAX_TABLE_ENTRIES = 100_000;
