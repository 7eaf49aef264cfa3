import type { JsonValue } from "@narthex/contracts";
import type { FunctionDecl } from "../declare/function-decl.ts";
import type { StreamedCall } from "../stream/call-delta.ts";
import type { AgentMessage } from "./agent-message.ts";

/** A model of any provider, with everything that the agent loop needs. */
export interface ModelClient {
  /** Streams the model's next message. Ends with the message; throws if the message is incomplete. */
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
  /** Data to send back unchanged with the message. */
  | { readonly type: "keep"; readonly part: JsonValue }
  /** The tokens used by the message so far; the last such event counts. */
  | ({ readonly type: "usage" } & ModelUsage)
  /** The message is incomplete: it reached its length limit, perhaps in the middle of its last call. */
  | { readonly type: "cut" };

export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}
