import type { CallToolResult, ContentBlock, Resource } from "@modelcontextprotocol/server";
import { describeResponse } from "@narthex/agent";
import { isJsonObject, type JsonObject, parseJson, type ToolResponse, type ToolSuccess } from "@narthex/contracts";
import { boundStructure } from "./bounded-structure.ts";
import { type ContentReader, mediaBlocks } from "./media-block.ts";

export interface McpResultOptions {
  /** Whether the tool's listing promised structured content. */
  readonly isStructured: boolean;
  /** Whether a structure matches the promised schema. */
  fits(structure: JsonObject): boolean;
  /** Remembers a result as a resource. */
  note(success: ToolSuccess): Resource;
  /** For a denial: what would have been allowed, one line each. */
  readonly allowed: readonly string[];
  /** Reads the bytes of a picture that is too large for its response. */
  readonly readContent: ContentReader;
}

/** Converts a response to an MCP result for a model: the view, or the error and what to do next. */
export async function toMcpResult(response: ToolResponse, options: McpResultOptions): Promise<CallToolResult> {
  const { result } = response;
  if (result.case === "success") return await successResult(result.value, options);
  return errorResult(describeResponse(response, options.allowed).text);
}

export function errorResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

async function successResult(success: ToolSuccess, options: McpResultOptions): Promise<CallToolResult> {
  const { isStructured, fits, note, readContent } = options;
  const resource = note(success);
  const view: ContentBlock = { type: "text", text: success.view };
  const link: ContentBlock = { type: "resource_link", ...resource };
  if (!isStructured) {
    const media = await mediaBlocks(success, resource.uri, readContent);
    // The view of JSON is plain text, and names the content to read more of. Other content is linked as a resource.
    return { content: [view, ...media, ...(success.cut && !isJson(success) ? [link] : [])] };
  }
  const structuredContent = await toStructuredContent(success, fits, readContent);
  if (structuredContent !== undefined) return { content: success.cut ? [view, link] : [view], structuredContent };
  // The protocol forbids a result without the promised structure.
  const text = `The call succeeded. Its result is too large to be given whole; read it with result_read, or page by page as the resource ${resource.uri}.`;
  return { content: [view, { type: "text", text }, link], isError: true };
}

/** SECURITY: a client may show its model the structure instead of the text, so it is bounded like the text. */
async function toStructuredContent(
  success: ToolSuccess,
  fits: McpResultOptions["fits"],
  readContent: ContentReader,
): Promise<JsonObject | undefined> {
  const { inlineResult, resultHash, resultSize, view, cut } = success;
  if (!isJson(success) || resultSize > MAX_STRUCTURE_BYTES) return undefined;
  const isInline = inlineResult.length > 0 || resultSize === 0n;
  const value = parseJson(isInline ? inlineResult : await readContent(resultHash, 0, Number(resultSize)));
  if (!isJsonObject(value) || !cut) return isJsonObject(value) ? value : undefined;
  const bounded = boundStructure(value, Buffer.byteLength(view));
  return bounded !== undefined && fits(bounded) ? bounded : undefined;
}

/** Larger results are not fetched in order to be cut. */
const MAX_STRUCTURE_BYTES = 4_194_304n;

function isJson({ resultType }: ToolSuccess): boolean {
  return resultType === "json" || resultType === "object" || resultType === "array";
}
