export { anthropicError, anthropicEvent, anthropicStream } from "./anthropic-stream.ts";
export { geminiError, geminiStream } from "./gemini-stream.ts";
export { openaiError, openaiStream } from "./openai-stream.ts";
export type { ScriptedResponse } from "./scripted-response.ts";
export { type ModelScript, type ModelStep, type ScriptedModel, startScriptedModel } from "./scripted-model.ts";
export type { ModelRequest, DeclaredTool } from "./model-request.ts";
export { type ModelReply, type ModelServer, type ModelServerRequest, startModelServer } from "./start-model-server.ts";
