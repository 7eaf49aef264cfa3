import type { AgentSession } from "../session/agent-session.ts";
import type { AgentEvent } from "./agent-run.ts";

/** Reports each approval request once, as soon as it is pending. */
export async function watchApprovalRequests(
  session: AgentSession,
  signal: AbortSignal,
  tell: (event: AgentEvent) => Promise<void>,
): Promise<void> {
  let known: ReadonlySet<string> = new Set();
  try {
    for await (const questions of session.watchApprovalRequests(signal)) {
      for (const question of questions) {
        if (!known.has(question.approvalId)) await tell({ type: "question", question });
      }
      known = new Set(questions.map(({ approvalId }) => approvalId));
    }
  } catch {
    // Ignored: the calls themselves report how they ended.
  }
}
