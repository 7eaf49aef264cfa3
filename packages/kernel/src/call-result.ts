import type { ToolResponse, Violation } from "@narthex/contracts";
import type { Effect, ToolOutput } from "./tool/tool.ts";

/** Result of a call made in this process; `status` tells which of the three types it is. */
export type CallResult<Value = ToolOutput | undefined> = CallSucceeded<Value> | CallDenied | CallFailed;

export interface CallSucceeded<Value = ToolOutput | undefined> extends CallFacts {
  readonly status: "success";
  /**
   * The tool's output, redacted; for a stream its first megabyte. Undefined for a stored response if it is larger than
   * 1 MB.
   */
  readonly value: Value;
  /** The text shown to a model. */
  readonly message: string;
  /** This is the stored response of an earlier call with the same request id or dedupe key. */
  readonly isRepeated: boolean;
  /** Size of the whole result in bytes. */
  readonly size: number;
  readonly code?: undefined;
  readonly rule?: undefined;
}

export interface CallDenied extends CallFacts {
  readonly status: "denied";
  /** An error code such as POLICY_DENIED: docs/formats/codes.md. */
  readonly code: string;
  /** Id of the policy rule that denied the call, or `kernel:` with the stage that denied it. */
  readonly rule: string;
  readonly message: string;
  readonly value?: undefined;
}

export interface CallFailed extends CallFacts {
  readonly status: "error";
  readonly code: string;
  readonly message: string;
  /** Every problem with the input or with the output. */
  readonly violations: readonly Violation[];
  /** The same call may be made again: it had no effects. */
  readonly isRetryable: boolean;
  /** How long to wait before a retry; may be 0. */
  readonly retryAfterMs: number;
  /** The call may have changed something. */
  readonly hasPossibleEffects: boolean;
  /** Id of the approval request that is pending; empty if none exists. */
  readonly approvalId: string;
  readonly rule?: undefined;
  readonly value?: undefined;
}

/** Facts that every call result has. */
export interface CallFacts {
  readonly requestId: string;
  /** The response as it is sent over the wire. */
  readonly response: ToolResponse;
  /** The tool's output after redaction. Undefined unless the tool ran in this call. */
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
