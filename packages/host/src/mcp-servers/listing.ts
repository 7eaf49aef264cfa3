import type { JsonValue } from "@narthex/contracts";
import type { ServerPins } from "./pin-store.ts";
import { toDisplayText } from "./display-text.ts";
import { changedFields, parseDefinition, type ToolDefinition } from "./tool-definition.ts";

/** What a server lists now. */
export interface Listing {
  /** By the server's own names. */
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  /** What cannot be used, and why. */
  readonly problems: readonly string[];
}

/** A pinned tool that is not any more what was pinned. */
export interface ChangedTool {
  readonly pinned: ToolDefinition;
  /** Undefined if the server does not have it any more, or has it in a form that cannot be used. */
  readonly found: ToolDefinition | undefined;
  readonly fields: readonly string[];
}

/** A name that is listed twice stands for nothing: nobody could say which of them is meant. */
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

/** Every pinned tool that changed. Tools that were added meanwhile are not there before somebody trusts them. */
export function findChanges({ tools }: Listing, pins: ServerPins): ChangedTool[] {
  return pins.tools.flatMap((pinned): ChangedTool[] => {
    const found = tools.get(pinned.name);
    if (found === undefined) return [{ pinned, found, fields: ["gone"] }];
    const fields = changedFields(pinned, found);
    return fields.length === 0 ? [] : [{ pinned, found, fields }];
  });
}
