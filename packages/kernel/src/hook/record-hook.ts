import {
  canonicalJsonBytes,
  ContentPlace,
  ContentRole,
  type JsonValue,
  KernelError,
  type Violation,
} from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { commitContent } from "../ledger/commitment.ts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import { ContentCollector } from "../result/content-collector.ts";
import { redactInput } from "../secret/redact-input.ts";

/**
 * Decision returned to a client about a call that the client runs itself; the kernel neither runs nor contains that
 * call.
 */
export interface HookDecision {
  readonly client: string;
  readonly event: string;
  /** Name of the tool in the client. */
  readonly toolName: string;
  readonly input: JsonValue;
  readonly conversation: string;
  readonly workspace: string;
  /** Session in whose chain the decision is recorded; empty for the system's chain. */
  readonly sessionId: string;
  /** Kernel tools whose rules were applied. */
  readonly decidedAs: readonly string[];
  readonly answer: "allow" | "ask" | "deny" | "none";
  readonly code: string;
  readonly ruleIds: readonly string[];
}

const MAX_TEXT = 4096;
const MAX_LIST = 1000;
const ANSWERS: ReadonlySet<string> = new Set(["allow", "ask", "deny", "none"]);

/**
 * Records a decision. Resolves once it is durable; the client gets its response only after that. Throws INVALID_INPUT
 * for an invalid decision.
 */
export async function recordHook(decision: HookDecision, kernel: KernelParts): Promise<void> {
  checkDecision(decision);
  const { client, event, toolName, conversation, workspace, decidedAs, answer, code, ruleIds, sessionId } = decision;
  const { current } = kernel.policy;
  const collector = new ContentCollector(kernel.contentStore, () => undefined);
  const given = canonicalJsonBytes(decision.input);
  await collector.write(redactInput(decision.input, given, kernel.secrets.all, kernel.secrets)?.bytes ?? given);
  const { digest, size, place, head } = await collector.finish();
  const bytes = place === ContentPlace.ROW ? { bytes: head } : {};
  const input = commitContent({ role: ContentRole.INPUT, digest, size, place, ...bytes }, kernel.random);
  const live = sessionId === "" ? undefined : await kernel.sessions.find(sessionId);
  await kernel.ledger.append({
    chain: live?.id ?? SYSTEM_CHAIN,
    entries: [
      {
        case: "hookDecided",
        value: {
          client,
          event,
          toolName,
          inputCommitment: input.commitment,
          conversation,
          workspace,
          decidedAs: [...decidedAs],
          answer,
          code,
          ruleIds: [...ruleIds],
          policyHash: "problem" in current ? new Uint8Array() : current.hash,
        },
      },
    ],
    content: [input.item],
  });
}

function checkDecision(decision: HookDecision): void {
  const violations: Violation[] = [];
  for (const name of ["client", "event", "toolName", "conversation", "workspace", "code"] as const) {
    if (decision[name].length > MAX_TEXT) {
      violations.push({ field: name, rule: "max_length", message: `has at most ${MAX_TEXT} characters` });
    }
  }
  for (const name of ["decidedAs", "ruleIds"] as const) {
    const list = decision[name];
    if (list.length > MAX_LIST || list.some((text) => text.length > MAX_TEXT)) {
      violations.push({ field: name, rule: "max_items", message: `has at most ${MAX_LIST} short entries` });
    }
  }
  if (!ANSWERS.has(decision.answer)) {
    violations.push({ field: "answer", rule: "one_of", message: "is one of allow, ask, deny and none" });
  }
  if (violations.length === 0) return;
  const text = violations.map(({ field, message }) => `${field} ${message}`).join("; ");
  throw new KernelError("INVALID_INPUT", `this is no decision of a hook: ${text}`, { violations });
}
