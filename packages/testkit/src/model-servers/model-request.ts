import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";

/** A request as a model sees it, independent of the provider. */
export interface ModelRequest {
  /** The system prompt. */
  readonly instructions: string;
  /** The user's texts, in order, without tool results. */
  readonly prompts: readonly string[];
  readonly tools: readonly DeclaredTool[];
  /** Calls that the model made in this conversation. */
  readonly calls: readonly ModelCall[];
  /** The results of the calls, in order. */
  readonly results: readonly ToolResultText[];
  /** Media types of all images and documents in the conversation. */
  readonly media: readonly string[];
}

export interface DeclaredTool {
  readonly name: string;
  readonly namespace?: string;
  /** The declaration as the client sent it. */
  readonly declaration: JsonObject;
}

export interface ModelCall {
  readonly name: string;
}

export interface ToolResultText {
  readonly text: string;
}

export function readItems(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}

export function readObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function readString(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The text of a content field: plain, or in parts that each have a `text`. */
export function readText(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  return readItems(value)
    .map((part) => readString(part["text"]))
    .filter((text) => text !== "")
    .join("\n");
}

/** Media types of all `data:` URLs anywhere in a value. */
export function readDataUrls(value: JsonValue | undefined): readonly string[] {
  if (typeof value === "string") return /^data:([\w.+-]+\/[\w.+-]+)[;,]/.exec(value)?.slice(1) ?? [];
  if (Array.isArray(value)) return value.flatMap((item) => readDataUrls(item));
  return isJsonObject(value) ? Object.values(value).flatMap((item) => readDataUrls(item)) : [];
}
