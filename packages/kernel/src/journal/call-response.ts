import type { ToolResponse } from "@narthex/contracts";
import type { Effect, ToolOutput } from "../tool/tool.ts";

export type ResponseResult = Exclude<ToolResponse["result"], { case: undefined }>;

/** The one answer to a call, before it is addressed to a request. */
export interface CallResponse {
  readonly result: ResponseResult;
  /** The record that holds the outcome; undefined for a request without a session. */
  readonly recordIndex: number | undefined;
  /** May be given again to a repeat: an outcome that a retry could not change. */
  readonly isFinal: boolean;
  readonly tool: string;
  readonly source: string;
  readonly sideEffects: readonly Effect[];
  readonly raw: ToolOutput | undefined;
  readonly normalised: Uint8Array | undefined;
  readonly proof: Uint8Array | undefined;
}
