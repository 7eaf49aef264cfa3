import type { ToolResponse } from "@narthex/contracts";
import type { Effect, ToolOutput } from "../tool/tool.ts";

export type ResponseResult = Exclude<ToolResponse["result"], { case: undefined }>;

/** The response to a call, before it is addressed to a request. */
export interface CallResponse {
  readonly result: ResponseResult;
  /** Record that holds the outcome; undefined for a request without a session. */
  readonly recordIndex: number | undefined;
  /** May be returned again for a repeat of the request: a retry could not change this outcome. */
  readonly isFinal: boolean;
  readonly tool: string;
  readonly source: string;
  readonly sideEffects: readonly Effect[];
  readonly raw: ToolOutput | undefined;
  readonly normalised: Uint8Array | undefined;
  readonly proof: Uint8Array | undefined;
}
