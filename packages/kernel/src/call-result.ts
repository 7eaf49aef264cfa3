import type { ToolResponse, Violation } from "@narthex/contracts";
import type { Effect, ToolOutput } from "./tool/tool.ts";

/** A call as its caller in this process sees it; `status` says which of the three it is. */
export type CallResult<Value = ToolOutput | undefined> = CallSucceeded<Value> | CallDenied | CallFailed;

export interface CallSucceeded<Value = ToolOutput | undefined> extends CallFacts {
  readonly status: "success";
  /**
   * What the tool answered, redacted; of a stream its first megabyte. Of an answer that was given before it is undefined if
   * it is larger than 1 MB.
   */
  readonly value: Value;
  /** The text that a model is shown. */
  readonly message: string;
  /** This answer was given before, to the same request id or dedupe key. */
  readonly isRepeated: boolean;
  /** Of the whole result, in bytes. */
  readonly size: number;
  readonly code?: undefined;
  readonly rule?: undefined;
}

export interface CallDenied extends CallFacts {
  readonly status: "denied";
  /** Such as POLICY_DENIED: docs/formats/codes.md. */
  readonly code: string;
  /** The id of a policy's rule, or `kernel:` with the stage that denied it. */
  readonly rule: string;
  readonly message: string;
  readonly value?: undefined;
}

export interface CallFailed extends CallFacts {
  readonly status: "error";
  readonly code: string;
  readonly message: string;
  /** Everything that is wrong with the input, or with the output. */
  readonly violations: readonly Violation[];
  /** The same call may be made again: nothing was done. */
  readonly isRetryable: boolean;
  /** 0, or how long to wait before that. */
  readonly retryAfterMs: number;
  /** Something may have changed. */
  readonly hasPossibleEffects: boolean;
  /** Of the question that waits for a person; empty if none does. */
  readonly approvalId: string;
  readonly rule?: undefined;
  readonly value?: undefined;
}

/** What is known of every call. */
export interface CallFacts {
  readonly requestId: string;
  /** The answer as it goes over the wire. */
  readonly response: ToolResponse;
  /** What the tool returned, after redaction. Undefined unless it ran in this very call. */
  readonly raw: ToolOutput | undefined;
  /** Up to 1 MB; larger results are in the content store under `hash`. */
  readonly normalised: Uint8Array | undefined;
  readonly hash: Uint8Array | undefined;
  /** An encoded `Proof`. */
  readonly proof: Uint8Array | undefined;
  readonly sideEffects: readonly Effect[];
  readonly metadata: CallMetadata;
}

export interface CallMetadata {
  readonly tool: string;
  readonly source: string;
  readonly durationMs: number;
  readonly labels: readonly string[];
  readonly cut: boolean;
}
