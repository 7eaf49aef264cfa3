import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { ClientSetting } from "./client.ts";
import type { MemberEdit } from "./configuration-edit.ts";

/** What the server is called in every client, and so in the names of its tools. */
export const SERVER_NAME = "narthex";

/** The entry that makes a client start `narthex mcp` on this workspace. */
export function serverEdit(
  { workspace, line }: ClientSetting,
  { under, agent, typed }: { readonly under: string; readonly agent: string; readonly typed: boolean },
): MemberEdit {
  const { command, arguments: words } = line("mcp", "--workspace", workspace, "--agent", agent);
  const value: JsonObject = { ...(typed && { type: "stdio" }), command, args: [...words] };
  return { kind: "member", at: [under], key: SERVER_NAME, value, mayReplace: isServerEntry };
}

/** An entry that starts narthex, as this command or a person wrote it. */
function isServerEntry(current: JsonValue): boolean {
  if (!isJsonObject(current)) return false;
  const { command, args } = current;
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === "string");
  return words.includes("mcp") && words.some((word) => /(?:^|[/\\])narthex(?:\.js|@[\w.-]+)?$/.test(word));
}
