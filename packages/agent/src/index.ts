export { describeViolation } from "./correct/correction-text.ts";
export { describeShape } from "./correct/describe-shape.ts";
export { type AiSdkSchema, type AiSdkToolDecl, toAiSdkTools } from "./declare/ai-sdk-tools.ts";
export { type AnthropicTool, toAnthropicTools } from "./declare/anthropic-tools.ts";
export { type DeclarationPart, type DeclaredTool, type DeclaredTools, declareTools } from "./declare/declare-tools.ts";
export type { FunctionDecl, ObjectSchema } from "./declare/function-decl.ts";
export { type GeminiFunction, type GeminiTool, toGeminiTools } from "./declare/gemini-tools.ts";
export { mapSubschemas, type Subschema } from "./declare/map-schema.ts";
export { type McpToolDecl, toMcpTools } from "./declare/mcp-tools.ts";
export {
  type OpenaiChatTool,
  type OpenaiFunction,
  type OpenaiResponsesTool,
  toOpenaiChatTools,
  toOpenaiResponsesTools,
} from "./declare/openai-tools.ts";
export type { Integer } from "./generate/integer.ts";
export type { AgentMessage, AssistantMessage, PlainMessage, RecordedText, ToolMessage } from "./model/agent-message.ts";
export { type AnthropicClient, anthropicModel } from "./model/anthropic-model.ts";
export { type GeminiClient, geminiModel } from "./model/gemini-model.ts";
export type { ModelClient, ModelEvent, ModelRequest, ModelUsage } from "./model/model-client.ts";
export { type AiSdkTool, narthexTools, type NarthexToolsOptions } from "./model/narthex-tools.ts";
export { type ModelParameters, type OpenaiClient, openaiModel } from "./model/openai-model.ts";
export { type OpenaiResponsesClient, openaiResponsesModel } from "./model/openai-responses-model.ts";
export type { AgentEnd, AgentEvent, AgentLimits, AgentOptions, AgentResult } from "./run/agent-run.ts";
export { openTranscriptFile, type TranscriptFile } from "./run/open-transcript-file.ts";
export { runAgent } from "./run/run-agent.ts";
export type { BeginEntry, ResultEntry, Transcript, TranscriptEntry, TurnEntry } from "./run/transcript.ts";
export {
  type AgentCallResponse,
  type AgentCallOptions,
  type AgentSession,
  type AgentTool,
  createAgentSession,
  type InProcessSession,
  type SessionCallOptions,
} from "./session/agent-session.ts";
export type { CallOutcome } from "./session/execute-call.ts";
export { type DescribedResponse, describeResponse } from "./session/describe-response.ts";
export { findNearestRules } from "./session/find-nearest-rules.ts";
export type { CallDelta, DeltaReader, StreamedCall } from "./stream/call-delta.ts";
export { readAiSdk } from "./stream/read-ai-sdk.ts";
export { readAnthropic } from "./stream/read-anthropic.ts";
export { readGemini } from "./stream/read-gemini.ts";
export { readOpenaiChat } from "./stream/read-openai-chat.ts";
export { readOpenaiResponses } from "./stream/read-openai-responses.ts";
export { type AccumulatorOptions, ToolCallAccumulator } from "./stream/tool-call-accumulator.ts";
