import type { JsonValue } from "@narthex/contracts";
import type { FunctionDecl } from "../declare/function-decl.ts";
import type { StreamedCall } from "../stream/call-delta.ts";
import type { AgentMessage } from "./agent-message.ts";

/** A model behind any provider: all that the loop needs. */
export interface ModelClient {
  /** Streams the model's next message. Ends when the message does, throws if it cannot be had whole. */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}

export interface ModelRequest {
  readonly messages: readonly AgentMessage[];
  readonly tools: readonly FunctionDecl[];
  readonly signal: AbortSignal;
}

export type ModelEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** All calls of the message, once it is complete. */
  | { readonly type: "calls"; readonly calls: readonly StreamedCall[] }
  /** Something to send back with the message as it is. */
  | { readonly type: "keep"; readonly part: JsonValue }
  /** What the message cost so far; the last one counts. */
  | ({ readonly type: "usage" } & ModelUsage)
  /** The message is not complete: its length limit was reached, perhaps in the middle of its last call. */
  | { readonly type: "cut" };

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}
