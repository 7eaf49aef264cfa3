import { isJsonObject, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import type { AgentMessage, AssistantMessage, RecordedText, ToolMessage } from "../model/agent-message.ts";
import type { CallOutcome } from "../session/execute-call.ts";
import type { StreamedCall } from "../stream/call-delta.ts";
import type { TranscriptEntry } from "./transcript.ts";

const STATUSES: readonly CallOutcome["status"][] = ["success", "denied", "error", "malformed"];

/** Parses an entry. Throws CONTENT_DAMAGED for anything that a run cannot have appended. */
export function parseTranscriptEntry(json: string): TranscriptEntry {
  const entry = objectOf(JSON.parse(json) as JsonValue);
  switch (entry["type"]) {
    case "begin":
      return {
        type: "begin",
        runId: textOf(entry, "runId"),
        sessionId: textOf(entry, "sessionId"),
        messages: listOf(entry, "messages").map((message) => parseMessage(objectOf(message))),
      };
    case "turn":
      return {
        type: "turn",
        turn: numberOf(entry, "turn"),
        message: parseAssistant(objectOf(entry["message"])),
        isCut: flagOf(entry, "isCut"),
        cost: numberOf(entry, "cost"),
      };
    case "result":
      return {
        type: "result",
        turn: numberOf(entry, "turn"),
        at: numberOf(entry, "at"),
        status: STATUSES.find((status) => status === entry["status"]) ?? unknownEntry(),
        requestId: textOf(entry, "requestId"),
        cost: numberOf(entry, "cost"),
        ...(entry["text"] !== undefined && { text: textOf(entry, "text") }),
      };
    default:
      return unknownEntry();
  }
}

function parseMessage(message: JsonObject): AgentMessage {
  switch (message["role"]) {
    case "system":
    case "user":
      return { role: message["role"], text: textOf(message, "text") };
    case "assistant":
      return parseAssistant(message);
    case "tool":
      return parseResult(message);
    default:
      return unknownEntry();
  }
}

function parseAssistant(message: JsonObject): AssistantMessage {
  return {
    role: "assistant",
    text: textOf(message, "text"),
    calls: listOf(message, "calls").map((call) => parseCall(objectOf(call))),
    ...(message["kept"] !== undefined && { kept: listOf(message, "kept") }),
  };
}

function parseResult(message: JsonObject): ToolMessage {
  return {
    role: "tool",
    callId: textOf(message, "callId"),
    name: textOf(message, "name"),
    text: textOf(message, "text"),
    isError: flagOf(message, "isError"),
    ...(message["recorded"] !== undefined && { recorded: parseRecorded(objectOf(message["recorded"])) }),
  };
}

function parseRecorded(recorded: JsonObject): RecordedText {
  return { sessionId: textOf(recorded, "sessionId"), requestId: textOf(recorded, "requestId") };
}

function parseCall(call: JsonObject): StreamedCall {
  return { id: textOf(call, "id"), name: textOf(call, "name"), arguments: textOf(call, "arguments") };
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : unknownEntry();
}

function textOf(object: JsonObject, key: string): string {
  const value = object[key];
  return typeof value === "string" ? value : unknownEntry();
}

function numberOf(object: JsonObject, key: string): number {
  const value = object[key];
  return typeof value === "number" ? value : unknownEntry();
}

function flagOf(object: JsonObject, key: string): boolean {
  const value = object[key];
  return typeof value === "boolean" ? value : unknownEntry();
}

function listOf(object: JsonObject, key: string): readonly JsonValue[] {
  const value = object[key];
  return Array.isArray(value) ? value : unknownEntry();
}

function unknownEntry(): never {
  throw new KernelError("CONTENT_DAMAGED", "the transcript holds an entry that no run appended");
}
