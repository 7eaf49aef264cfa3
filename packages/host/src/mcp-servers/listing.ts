import type { JsonValue } from "@narthex/contracts";
import type { ServerPins } from "./pin-store.ts";
import { toDisplayText } from "./display-text.ts";
import { changedFields, parseDefinition, type ToolDefinition } from "./tool-definition.ts";

/** The tools that a server currently lists. */
export interface Listing {
  /** By the names that the server uses. */
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  /** Tools that cannot be used, with the reasons. */
  readonly problems: readonly string[];
}

/** A pinned tool whose definition changed. */
export interface ChangedTool {
  readonly pinned: ToolDefinition;
  /** Undefined if the server no longer lists it, or lists it in an invalid form. */
  readonly found: ToolDefinition | undefined;
  readonly fields: readonly string[];
}

/** Validates the listed tools. A name that occurs twice is left out, because it is ambiguous. */
export function readListing(listed: readonly JsonValue[]): Listing {
  const tools = new Map<string, ToolDefinition>();
  const twice = new Set<string>();
  const problems: string[] = [];
  for (const json of listed) {
    const definition = parseDefinition(json);
    if ("problem" in definition) problems.push(definition.problem);
    else if (tools.has(definition.name)) twice.add(definition.name);
    else tools.set(definition.name, definition);
  }
  for (const name of twice) {
    tools.delete(name);
    problems.push(`\`${toDisplayText(name, 80)}\` is listed twice`);
  }
  return { tools, problems };
}

/** Returns every pinned tool that changed. Tools that were added later are ignored until a user trusts them. */
export function findChanges({ tools }: Listing, pins: ServerPins): ChangedTool[] {
  return pins.tools.flatMap((pinned): ChangedTool[] => {
    const found = tools.get(pinned.name);
    if (found === undefined) return [{ pinned, found, fields: ["gone"] }];
    const fields = changedFields(pinned, found);
    return fields.length === 0 ? [] : [{ pinned, found, fields }];
  });
}
