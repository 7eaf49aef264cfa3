import type { Resource } from "@modelcontextprotocol/server";
import { toHex, type ToolSuccess } from "@narthex/contracts";
import { contentUri } from "./content-uri.ts";

/** The latest results of a session, as resources. */
export interface RecentResults {
  note(success: ToolSuccess): Resource;
  /** Lists the newest first. */
  list(): Resource[];
  /** Returns the known type of a content. */
  typeOf(hash: Uint8Array): string | undefined;
}

const MAX_RESULTS = 100;

export function createRecentResults(): RecentResults {
  const results = new Map<string, Resource>();
  return {
    note(success) {
      const key = toHex(success.resultHash);
      const resource = toResource(success);
      // A repeated result becomes the newest again.
      results.delete(key);
      results.set(key, resource);
      const [oldest] = results.keys();
      if (results.size > MAX_RESULTS && oldest !== undefined) results.delete(oldest);
      return resource;
    },
    list: () => [...results.values()].reverse(),
    typeOf: (hash) => results.get(toHex(hash))?.mimeType,
  };
}

function toResource({ resultHash, resultSize, resultType, tool }: ToolSuccess): Resource {
  const hex = toHex(resultHash);
  return {
    uri: contentUri(resultHash),
    name: hex.slice(0, 12),
    title: `Result of ${tool}`,
    mimeType: mimeTypeOf(resultType),
    size: Number(resultSize),
  };
}

function mimeTypeOf(resultType: string): string {
  switch (resultType) {
    case "json":
    case "object":
    case "array":
      return "application/json";
    case "string":
      return "text/plain";
    default:
      return "application/octet-stream";
  }
}
