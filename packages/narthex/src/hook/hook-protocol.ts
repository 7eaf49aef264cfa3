import type { JsonObject } from "@narthex/contracts";
import type { HookCall, HookSubject, HookVerdict } from "./hook-call.ts";

/** How one client tells of calls and is answered. */
export interface HookProtocol {
  /** Throws a HookProblem for what is no call. */
  parseCall(message: JsonObject, environment: NodeJS.ProcessEnv): HookCall;
  /** `ownCommands` are the ways in which this client may start narthex's own server. */
  toSubject(call: HookCall, ownCommands: readonly string[]): HookSubject;
  /** What the client reads on standard output. `call` is absent where the message was none. */
  encodeResponse(verdict: HookVerdict, call: HookCall | undefined): JsonObject;
  /** Whether the same call comes again in an event of its own, which is the one that is recorded. */
  hasFollowUpEvent(call: HookCall): boolean;
  /** The workspace, where the command line names none. */
  findWorkspace(message: JsonObject, environment: NodeJS.ProcessEnv): string;
}

/** The reason as the person and the agent see it. `permission` is what the client is told to do. */
export function shownReason(
  { reason, code, ruleIds }: HookVerdict,
  permission: Exclude<HookVerdict["answer"], "none">,
): string {
  if (code === "TOOL_NOT_FOUND") return permission === "ask" ? `${reason}, so you are asked` : reason;
  const by = [code, ...ruleIds].filter((part) => part !== "").join(", ");
  return `narthex: ${reason === "" ? "allowed" : reason}${by === "" ? "" : ` (${by})`}`;
}
