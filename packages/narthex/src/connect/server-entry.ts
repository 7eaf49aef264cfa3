import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { ConnectContext } from "./client.ts";
import type { MemberEdit } from "./configuration-edit.ts";

/** What the server is called in every client, and so in the names of its tools. */
export const SERVER_NAME = "narthex";

export interface ServerEntryOptions {
  /** The key that holds a client's servers. */
  readonly serversKey: string;
  readonly agent: string;
  /** Whether the entry says what kind of server it is. */
  readonly typed: boolean;
  /** What a client has besides. */
  readonly extraFields?: JsonObject;
}

/** The entry that makes a client start `narthex mcp` on this workspace. */
export function serverEdit(
  { workspace, line, adopt }: ConnectContext,
  { serversKey, agent, typed, extraFields }: ServerEntryOptions,
): MemberEdit {
  const { command, arguments: words } = line(...createServerArguments(workspace, agent, { adopt }));
  const value: JsonObject = { ...(typed && { type: "stdio" }), command, args: [...words], ...extraFields };
  return { kind: "member", at: [serversKey], key: SERVER_NAME, value, mayReplace: isServerEntry };
}

/** What a client runs narthex with. */
export function createServerArguments(
  workspace: string,
  agent: string,
  { adopt }: { readonly adopt: boolean },
): readonly string[] {
  return ["mcp", "--workspace", workspace, "--agent", agent, ...(adopt ? ["--adopt"] : [])];
}

/** An entry that starts narthex, as this command or a person wrote it. */
export function isServerEntry(current: JsonValue): boolean {
  if (!isJsonObject(current)) return false;
  const { command, args } = current;
  const words = [command, args].flat().filter((word) => typeof word === "string");
  return words.includes("mcp") && words.some((word) => /(?:^|[/\\])narthex(?:\.js|@[\w.-]+)?$/.test(word));
}
