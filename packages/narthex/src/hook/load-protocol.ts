import type { HookClient } from "./hook-call.ts";
import type { HookProtocol } from "./hook-protocol.ts";

export async function loadProtocol(client: HookClient): Promise<HookProtocol> {
  if (client === "claude") return (await import("./claude-protocol.ts")).claudeProtocol;
  return (await import("./cursor-protocol.ts")).cursorProtocol;
}
