import type { JsonObject } from "@narthex/contracts";
import type { CallExplanation } from "@narthex/kernel";
import { type HookSubject, type HookVerdict, NO_RULE, type SubjectCall } from "./hook-call.ts";
import type { HookKernel } from "./hook-kernel.ts";
import { isFileInDirectory, toWorkspacePath } from "./workspace-path.ts";

export interface HookContext {
  readonly kernel: Pick<HookKernel, "explainCall">;
  /** Real path. */
  readonly workspace: string;
  /** Base of relative paths. */
  readonly directory: string;
  /** Where the client stores long results of this conversation. */
  readonly resultsDirectory: string | undefined;
  /** Session whose lease and labels apply; those of a new session if absent. */
  readonly sessionId: string | undefined;
}

/** Strictest first. */
const STRICTNESS = ["deny", "ask", "allow"] as const;

/** Decides a client's call by the rules in force. */
export async function decideHook(subject: HookSubject, around: HookContext): Promise<HookVerdict> {
  if (subject.kind === "own") return none("narthex decides it when it comes");
  if (subject.kind === "harmless") return none("");
  if (subject.kind === "unknown") return { answer: "ask", code: "TOOL_NOT_FOUND", reason: subject.why, ruleIds: [] };
  if (await readsOwnResults(subject.calls, around)) return none("it is a result that the client got before");
  const verdicts: HookVerdict[] = [];
  for (const call of subject.calls) verdicts.push(await decideCall(call, around));
  const strictest = STRICTNESS.flatMap((answer) => verdicts.filter((verdict) => verdict.answer === answer))[0];
  return strictest ?? { answer: "deny", code: "INVALID_INPUT", reason: "it asks for nothing", ruleIds: [] };
}

/**
 * SECURITY: a client stores long results in files of its own and tells the agent to read them there. This conversation
 * has already seen them, and neither the agent's tools nor the sandbox can write there. The client names the directory,
 * the agent only the file, whose links are resolved.
 */
async function readsOwnResults(calls: readonly SubjectCall[], around: HookContext): Promise<boolean> {
  const { directory, resultsDirectory } = around;
  if (resultsDirectory === undefined || calls.length === 0) return false;
  for (const { tool, path } of calls) {
    if (tool !== "file_read" && tool !== "file_search") return false;
    if (path === undefined || !(await isFileInDirectory(path, directory, resultsDirectory))) return false;
  }
  return true;
}

async function decideCall(call: SubjectCall, around: HookContext): Promise<HookVerdict> {
  const input = await resolveInputPath(call, around);
  if (input === undefined) {
    const reason = "the path lies outside the workspace, or behind a link that leads out of it";
    return { answer: "deny", code: "PATH_ESCAPE", reason, ruleIds: [] };
  }
  const { kernel, sessionId } = around;
  try {
    const question = { tool: call.tool, input, ...(sessionId !== undefined && { sessionId }) };
    return withoutSandbox(call.tool, verdictOf(await kernel.explainCall(question)));
  } catch (fault) {
    if (!isMissingTool(fault)) throw fault;
    return {
      answer: "ask",
      code: "TOOL_NOT_FOUND",
      reason: NO_RULE,
      ruleIds: [],
    };
  }
}

/** Returns undefined for a path outside the workspace. */
async function resolveInputPath(
  { input, path }: SubjectCall,
  { workspace, directory }: HookContext,
): Promise<JsonObject | undefined> {
  if (path === undefined) return input;
  const place = await toWorkspacePath(path, directory, workspace);
  return place === undefined ? undefined : { ...input, path: place };
}

function verdictOf({ answer, code, message, questions }: CallExplanation): HookVerdict {
  const effect = answer === "deny" ? "forbid" : "permit";
  const rules = questions.flatMap((question) =>
    question.rules.filter((rule) => rule.verdict === "matched" && rule.effect === effect).map(({ id }) => id),
  );
  return { answer, code, reason: message, ruleIds: [...new Set(rules)].sort() };
}

/**
 * SECURITY: rules allow commands without an approval because a sandbox contains them: `cat ~/.ssh/id_ed25519` finds
 * nothing there. A client's own tool has no sandbox, so an allowed command needs an approval.
 */
function withoutSandbox(tool: string, verdict: HookVerdict): HookVerdict {
  if (tool !== "shell_exec" || verdict.answer !== "allow") return verdict;
  const reason = "the rules allow this in a sandbox only, and the client's own tool has none; narthex's shell_exec has";
  return { ...verdict, answer: "ask", reason };
}

function isMissingTool(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === "TOOL_NOT_FOUND";
}

function none(reason: string): HookVerdict {
  return { answer: "none", code: "", reason, ruleIds: [] };
}
