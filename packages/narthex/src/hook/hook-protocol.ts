import type { JsonObject } from "@narthex/contracts";
import type { HookCall, HookSubject, HookVerdict } from "./hook-call.ts";

/** How one client reports calls and expects responses. */
export interface HookProtocol {
  /** Throws a HookProblem for an invalid call. */
  parseCall(message: JsonObject, environment: NodeJS.ProcessEnv): HookCall;
  /** `ownCommands` are the command lines with which this client may start narthex's own server. */
  toSubject(call: HookCall, ownCommands: readonly string[]): HookSubject;
  /** Returns what the client reads on standard output. `call` is absent if the message was invalid. */
  encodeResponse(verdict: HookVerdict, call: HookCall | undefined): JsonObject;
  /** Whether the same call fires a second event, which is the one that is recorded. */
  hasFollowUpEvent(call: HookCall): boolean;
  /** Returns the workspace, for a command line that names none. */
  findWorkspace(message: JsonObject, environment: NodeJS.ProcessEnv): string;
}

/** Formats the reason as the user and the agent see it. `permission` is what the client is told to do. */
export function shownReason(
  { reason, code, ruleIds }: HookVerdict,
  permission: Exclude<HookVerdict["answer"], "none">,
): string {
  if (code === "TOOL_NOT_FOUND") return permission === "ask" ? `${reason}, so you are asked` : reason;
  const by = [code, ...ruleIds].filter((part) => part !== "").join(", ");
  return `narthex: ${reason === "" ? "allowed" : reason}${by === "" ? "" : ` (${by})`}`;
}
