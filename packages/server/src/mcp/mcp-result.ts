import type { CallToolResult, ContentBlock, Resource } from "@modelcontextprotocol/server";
import { describeResponse } from "@narthex/agent";
import { isJsonObject, type JsonObject, parseJson, type ToolResponse, type ToolSuccess } from "@narthex/contracts";
import { boundStructure } from "./bounded-structure.ts";
import { mediaBlock } from "./media-block.ts";

export interface McpResultOptions {
  /** The tool's listing promised structure. */
  readonly isStructured: boolean;
  /** Whether a structure is what the listing promised. */
  fits(structure: JsonObject): boolean;
  /** Remembers a result as a resource. */
  note(success: ToolSuccess): Resource;
  /** Of a denial: what would have been allowed, one line each. */
  readonly allowed: readonly string[];
}

/** An answer as MCP gives it to a model: the view, or what went wrong and what to do next. */
export function toMcpResult(response: ToolResponse, options: McpResultOptions): CallToolResult {
  const { result } = response;
  if (result.case === "success") return successResult(result.value, options);
  return errorResult(describeResponse(response, options.allowed).text);
}

export function errorResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function successResult(success: ToolSuccess, { isStructured, fits, note }: McpResultOptions): CallToolResult {
  const resource = note(success);
  const view: ContentBlock = { type: "text", text: success.view };
  const link: ContentBlock = { type: "resource_link", ...resource };
  const structuredContent = structuredOf(success, fits);
  if (structuredContent === undefined && isStructured) {
    // The protocol forbids a result without the structure that was promised.
    const text = `The call succeeded. Its result is too large to be given whole; read it with result_read, or page by page as the resource ${resource.uri}.`;
    return { content: [view, { type: "text", text }, link], isError: true };
  }
  // What is not shown whole is a resource, which is read page by page.
  const media = mediaBlock(success);
  const content = [view, ...(media === undefined ? [] : [media]), ...(success.cut ? [link] : [])];
  // A structure that was not promised is left out where the text was cut.
  if (structuredContent === undefined || (success.cut && !isStructured)) return { content };
  return { content, structuredContent };
}

/** SECURITY: a client may show its model the structure instead of the text, so it is bounded like the text. */
function structuredOf({ resultType, inlineResult, view, cut }: ToolSuccess, fits: McpResultOptions["fits"]) {
  if ((resultType !== "object" && resultType !== "json") || inlineResult.length === 0) return undefined;
  const value = parseJson(inlineResult);
  if (!isJsonObject(value) || !cut) return isJsonObject(value) ? value : undefined;
  const bounded = boundStructure(value, Buffer.byteLength(view));
  return bounded !== undefined && fits(bounded) ? bounded : undefined;
}
