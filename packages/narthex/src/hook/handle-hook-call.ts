import { realpath } from "node:fs/promises";
import { AGENT_NAMES } from "../connect/agent-names.ts";
import { createProgramLine } from "../connect/program-line.ts";
import { createServerArguments } from "../connect/server-entry.ts";
import { decideHook } from "./decide-hook.ts";
import type { HookCall, HookClient, HookVerdict } from "./hook-call.ts";
import type { HookKernel } from "./hook-kernel.ts";
import type { HookProtocol } from "./hook-protocol.ts";
import { recordHookDecision } from "./record-hook-decision.ts";

export interface HookRequest {
  readonly protocol: HookProtocol;
  readonly call: HookCall;
  /** Workspace as the command line or the client named it. */
  readonly workspace: string;
  /** The kernel's home. */
  readonly home: string;
}

const MAX_SESSIONS = 200;

/** Decides one call and records the decision. */
export async function handleHookCall(kernel: HookKernel, request: HookRequest): Promise<HookVerdict> {
  const { protocol, call, home } = request;
  const workspace = await realpath(request.workspace);
  const subject = protocol.toSubject(call, createOwnServerCommands(call.client, workspace, home));
  const sessionId = await findSession(kernel, call.client, workspace);
  const { directory, resultsDirectory } = call;
  const verdict = await decideHook(subject, { kernel, workspace, directory, resultsDirectory, sessionId });
  // A denial is recorded here, because no follow-up event comes after it.
  if (protocol.hasFollowUpEvent(call) && verdict.answer !== "deny") return verdict;
  const decidedAs = subject.kind === "calls" ? [...new Set(subject.calls.map(({ tool }) => tool))] : [];
  await recordHookDecision(kernel, call, verdict, { workspace, sessionId: sessionId ?? "", decidedAs });
  return verdict;
}

/**
 * Finds the session that the client's own server opened: its labels and lease apply to the client's other tools too.
 */
async function findSession(
  kernel: Pick<HookKernel, "listSessions">,
  client: HookClient,
  workspace: string,
): Promise<string | undefined> {
  const agent = AGENT_NAMES[client];
  const sessions = await kernel.listSessions({ all: false, limit: MAX_SESSIONS });
  return sessions
    .filter((session) => session.workspace === workspace && session.agent === agent && session.parentSessionId === "")
    .sort((one, other) => Number(other.openedAtMs - one.openedAtMs))[0]?.sessionId;
}

/** The command lines with which `connect` makes the client start narthex's server. */
function createOwnServerCommands(client: HookClient, workspace: string, home: string): readonly string[] {
  return [false, true].map((adopt) => {
    const { command, arguments: words } = createProgramLine(
      createServerArguments(workspace, AGENT_NAMES[client], { adopt }),
      home,
    );
    return [command, ...words].join(" ");
  });
}

/** Turns any error into a denial. */
export function toDenial(fault: unknown): HookVerdict {
  const code = fault instanceof Error && "code" in fault && typeof fault.code === "string" ? fault.code : "INTERNAL";
  const reason = fault instanceof Error ? fault.message.replace(/\s*\n[\s\S]*$/, "") : "it cannot be decided";
  return { answer: "deny", code: /^[A-Z_]+$/.test(code) ? code : "INTERNAL", reason, ruleIds: [] };
}
