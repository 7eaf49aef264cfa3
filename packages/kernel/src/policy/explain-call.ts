import { blake3, canonicalJsonBytes, isKernelError, type JsonValue, KernelError } from "@narthex/contracts";
import type { Capability } from "../capability/capability.ts";
import { missingCapabilities } from "../capability/covers.ts";
import { describeMissing } from "../capability/describe-capability.ts";
import { checkLease } from "../lease/check-lease.ts";
import type { Policy } from "../ports.ts";
import type { RegisteredTool, Registry } from "../registry/registry.ts";
import { lineageProblem } from "../session/lineage.ts";
import type { LiveSession } from "../session/live-session.ts";
import { describeBoundExcess } from "../tool/bound-excess.ts";
import { foldCase } from "../tool/fold-case.ts";
import { type NarrowedTool, narrowTool } from "../tool/narrow-tool.ts";
import { requiredCapabilities } from "../tool/required-capabilities.ts";
import type { Effect } from "../tool/tool.ts";
import type { TrustedPaths } from "../trusted-paths.ts";
import { toApprovalRequirement } from "./approval-requirement.ts";
import { type PolicyInput, type PolicyCheck, createPolicyRequest, listPolicyChecks } from "./policy-checks.ts";
import type { CallExplanation, ExplainedCheck, ExplainRequest, MissingRight } from "./explain.ts";
import { writtenPaths } from "./policy-target.ts";
import { toPolicyRefusal } from "./policy-refusal.ts";

export interface ExplainParts {
  readonly registry: Registry;
  readonly policy: Policy;
  isProtected(path: string): boolean;
  readonly trustedPaths?: TrustedPaths | undefined;
  nowMs(): number;
  /** Labels of the session and of its workspace. */
  labelsOf(live: LiveSession, effects: readonly Effect[]): readonly string[];
}

/** Explains how a call would be decided now. Runs nothing, spends no budget, records nothing. */
export async function explainCall(
  request: ExplainRequest,
  live: LiveSession,
  parts: ExplainParts,
): Promise<CallExplanation> {
  const registered = parts.registry.resolve(request.tool, request.version ?? "");
  if (registered === undefined) throw new KernelError("TOOL_NOT_FOUND", `there is no tool \`${request.tool}\``);
  try {
    return await explain(registered, checkedInput(registered, request.input), live, parts);
  } catch (fault) {
    // Errors that stop a call before its decision: an invalid input, a path outside the workspace, a policy error.
    if (!isKernelError(fault)) throw fault;
    return { answer: "deny", code: fault.code, message: fault.message, missing: [], questions: [] };
  }
}

async function explain(
  registered: RegisteredTool,
  input: JsonValue,
  live: LiveSession,
  parts: ExplainParts,
): Promise<CallExplanation> {
  const facts = narrowTool(registered.tool, input);
  const needed = registered.tool.needs?.(input, live.toolSession) ?? [];
  const missing = missingRights(registered, facts, needed, live, parts);
  const { current } = parts.policy;
  if ("problem" in current) {
    const message = `no policy is in force: ${current.problem}`;
    return { answer: "deny", code: "POLICY_MISSING", message, missing, questions: [] };
  }
  const inputDigest = blake3(canonicalJsonBytes(registered.tool.canonicalInput?.(input) ?? input));
  const labels = parts.labelsOf(live, facts.effects);
  const call: PolicyInput = {
    live,
    registered,
    facts,
    input,
    recordedInput: input,
    redact: undefined,
    inputDigest,
    needed,
    labels,
  };
  const questions: EvaluatedCheck[] = [];
  const { workspace } = live.session;
  const written = writtenPaths(needed, workspace);
  const trusted = written.length === 0 ? undefined : await parts.trustedPaths?.inspect(workspace, written);
  const isProtected = (path: string): boolean => parts.isProtected(path) || trusted?.isTrusted(path) === true;
  for (const question of listPolicyChecks(call, isProtected)) questions.push(await explainCheck(call, question, parts));
  return { ...conclude(missing, questions), missing, questions: questions.map(({ asked }) => asked) };
}

interface EvaluatedCheck {
  readonly asked: ExplainedCheck;
  readonly refusal: { readonly code: string; readonly message: string } | undefined;
}

async function explainCheck(
  call: PolicyInput,
  question: PolicyCheck,
  { policy }: ExplainParts,
): Promise<EvaluatedCheck> {
  const { action, target } = question;
  const { request } = createPolicyRequest(call, question, policy);
  const answer = policy.evaluate(request);
  const refusal = toPolicyRefusal({ action, target, source: call.registered.tool.source }, answer);
  const asked = {
    action,
    path: target.path ?? "",
    host: target.host ?? "",
    allowed: refusal === undefined,
    ...toApprovalRequirement(answer, refusal, call.facts.tier),
    rules: await policy.explain(request),
  } as const;
  return { asked, refusal };
}

function conclude(
  missing: readonly MissingRight[],
  questions: readonly EvaluatedCheck[],
): Pick<CallExplanation, "answer" | "code" | "message"> {
  const [right] = missing;
  if (right !== undefined) return { answer: "deny", ...right };
  const refused = questions.find(({ refusal }) => refusal !== undefined)?.refusal;
  if (refused !== undefined) return { answer: "deny", code: refused.code, message: refused.message };
  const asking = questions.find(({ asked }) => asked.approve !== "none")?.asked;
  if (asking === undefined) return { answer: "allow", code: "", message: "" };
  const where = asking.approve === "console" ? "at the console" : "at any door";
  const always = asking.always.length === 0 ? "" : `; ${asking.always.join(", ")} asks for every such call`;
  return { answer: "ask", code: "", message: `a person is asked first, ${where}${always}` };
}

function missingRights(
  { tool }: RegisteredTool,
  { effects, tier, boundExcess }: NarrowedTool,
  needed: readonly Capability[],
  live: LiveSession,
  { nowMs }: ExplainParts,
): MissingRight[] {
  const code =
    lineageProblem(live.parent, nowMs()) ?? checkLease(live.lease, { toolName: tool.name, tier, nowMs: nowMs() });
  if (code !== undefined) return [{ code, message: `the session's lease does not allow \`${tool.name}\` (${code})` }];
  const lacking = missingCapabilities(live.lease.capabilities, {
    required: requiredCapabilities(tool, effects),
    needed,
  });
  const missing: MissingRight[] = describeMissing(lacking).map((right) => ({
    code: "CAPABILITY_MISSING",
    message: `the lease lacks ${right}`,
  }));
  if (boundExcess !== undefined)
    missing.push({ code: "BOUNDS_EXCEEDED", message: describeBoundExcess(tool.name, boundExcess) });
  return missing;
}

function checkedInput({ tool, inputSchema }: RegisteredTool, given: JsonValue): JsonValue {
  const input = inputSchema.applyDefaults(foldCase(tool, given));
  const violations = inputSchema.check(input);
  if (violations.length === 0) {
    tool.checkInput?.(input);
    return input;
  }
  const text = violations.map(({ message }) => message).join("; ");
  throw new KernelError("INVALID_INPUT", `\`${tool.name}\`: ${text}`, { violations });
}
