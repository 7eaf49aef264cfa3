import type { MessageBounds } from "../../files/worker/worker-message.ts";

/** What the kernel says to a host; frames of one job carry its number. */
export type HostRequest =
  /** The payload is the module as its author made it. */
  | { readonly type: "load"; readonly key: string; readonly options: LoadOptions }
  /** The payload is the input. */
  | { readonly type: "run"; readonly key: string; readonly fuel: number; readonly cpuMs?: number | undefined }
  /** To the host call that the job waits for. `status` is 0, or what the module is told instead of the payload. */
  | { readonly type: "answer"; readonly status: number }
  | { readonly type: "stop" };

export interface LoadOptions {
  readonly memoryPages: number;
  readonly allowsSimd: boolean;
}

/** What a host says. */
export type HostReply =
  | { readonly type: "ready" }
  /** The payload is the declaration that the module carries, if it carries one. */
  | { readonly type: "loaded"; readonly isDeclared: boolean; readonly cpuMs: number }
  | { readonly type: "rejected"; readonly reason: string; readonly message: string; readonly cpuMs: number }
  /** Nothing is loaded under the key of a run. */
  | { readonly type: "missing" }
  | { readonly type: "host_call"; readonly code: number }
  | ({ readonly type: "ended"; readonly use?: ModuleUse | undefined } & HostEnding);

/** Of a run that was stopped, fuel and memory are those of its last host call: it has used as much at least. */
export interface ModuleUse {
  readonly fuel: number;
  readonly memoryPages: number;
  /** Of its thread, on the processor. */
  readonly cpuMs: number;
}

/** An answer, and what a module says of its failure, are the payload. */
export type HostEnding =
  /** `starved`: the machine could not give memory that was within the cap. */
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

/** The custom section with a module's declaration. */
export const DECLARATION_SECTION = "narthex.tool";
/** What a module may import. */
export const HOST_IMPORT = { module: "narthex", name: "host" } as const;

/**
 * What a host call takes of the depth while it is answered, for the host's own frames: a module may call its host again
 * from `alloc`, which is called for the answer.
 */
export const HOST_CALL_DEPTH = 8;

/** What a host call costs besides its bytes, each of which costs one, in both directions. */
export const HOST_CALL_FUEL = 1000;

const MB = 1024 * 1024;
export const MAX_MODULE_BYTES = 32 * MB;
/** Of an answer, a host call's request, and its answer. */
export const MAX_MESSAGE_BYTES = 16 * MB;
export const MAX_REASON_LENGTH = 64;
export const MAX_REJECTION_LENGTH = 500;

export const HOST_REQUEST_BOUNDS: MessageBounds = { headerBytes: 64 * 1024, payloadBytes: 100 * MB };
/** SECURITY: what the kernel accepts from a host, which a module may have taken over. */
export const HOST_REPLY_BOUNDS: MessageBounds = { headerBytes: 16 * 1024, payloadBytes: MAX_MESSAGE_BYTES };

/** How deeply functions may call each other: units of the meter, whose frames the threads' stacks hold. */
export const MAX_DEPTH = 10_000;
export const MAX_TABLE_ENTRIES = 100_000;
