import { isJsonObject, type JsonValue } from "@narthex/contracts";
import type { ConnectContext } from "./client.ts";
import { toShellLine } from "./program-line.ts";

/** How long a client waits for a decision. The hook itself gives up earlier and responds. */
export const HOOK_TIMEOUT_SECONDS = 60;

/** The command line that a client runs before its own tools. */
export function hookLine({ workspace, line }: ConnectContext, client: "claude" | "cursor"): string {
  return toShellLine(line("hook", client, "--workspace", workspace));
}

/** Whether this command wrote the line, for any workspace and any path of the program. */
function isHookLine(current: JsonValue | undefined, client: "claude" | "cursor"): boolean {
  return (
    typeof current === "string" && /narthex(?:\.js)?'? hook /.test(current) && current.includes(` hook ${client} `)
  );
}

export function hasHookLine(current: JsonValue, client: "claude" | "cursor"): boolean {
  return isJsonObject(current) && isHookLine(current["command"], client);
}
