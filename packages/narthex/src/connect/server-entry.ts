import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { ConnectContext } from "./client.ts";
import type { MemberEdit } from "./configuration-edit.ts";

/** Name of the server in every client, and so a part of its tools' names. */
export const SERVER_NAME = "narthex";

export interface ServerEntryOptions {
  /** Key under which the client lists its servers. */
  readonly serversKey: string;
  readonly agent: string;
  /** Whether the entry states the type of the server. */
  readonly typed: boolean;
  /** Further fields that the client needs. */
  readonly extraFields?: JsonObject;
}

/** Creates the entry that makes a client start `narthex mcp` on this workspace. */
export function serverEdit(
  { workspace, line, adopt }: ConnectContext,
  { serversKey, agent, typed, extraFields }: ServerEntryOptions,
): MemberEdit {
  const { command, arguments: words } = line(...createServerArguments(workspace, agent, { adopt }));
  const value: JsonObject = { ...(typed && { type: "stdio" }), command, args: [...words], ...extraFields };
  return { kind: "member", at: [serversKey], key: SERVER_NAME, value, mayReplace: isServerEntry };
}

/** Arguments that a client starts narthex with. */
export function createServerArguments(
  workspace: string,
  agent: string,
  { adopt }: { readonly adopt: boolean },
): readonly string[] {
  return ["mcp", "--workspace", workspace, "--agent", agent, ...(adopt ? ["--adopt"] : [])];
}

/** Whether an entry starts narthex, whether this command or a person wrote it. */
export function isServerEntry(current: JsonValue): boolean {
  if (!isJsonObject(current)) return false;
  const { command, args } = current;
  const words = [command, args].flat().filter((word) => typeof word === "string");
  return words.includes("mcp") && words.some((word) => /(?:^|[/\\])narthex(?:\.js|@[\w.-]+)?$/.test(word));
}
