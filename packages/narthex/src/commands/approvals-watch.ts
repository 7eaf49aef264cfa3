import { type ApprovalInfo, ApprovalInfoSchema, isKernelError } from "@narthex/contracts";
import { followApprovals } from "../connection/follow-approvals.ts";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { loginName } from "../terminal/login-name.ts";
import { messageToJson } from "../terminal/message-json.ts";
import { openKeyReader, type KeyReader } from "../terminal/key-reader.ts";
import { visible } from "../terminal/visible.ts";
import { type PromptDecision, promptForApproval } from "./approvals-prompt.ts";
import { MAX_SHOWN_CHARACTERS, renderApproval } from "./approvals-view.ts";
import type { Command, Invocation } from "./command.ts";

export const approvalsWatchCommand: Command = {
  details:
    "On a terminal each new question is shown and answered by a key. Elsewhere, and with --json, questions are only " +
    "printed as they come. Runs until it is interrupted; waits for a kernel where none runs.",
  endsOnClosedOutput: true,
  options: [{ flags: "--by <name>", description: "who answers (default: your user name)" }],
  examples: ["narthex approvals watch", "narthex approvals watch --json | jq -r .tool"],

  async run(invocation) {
    const { terminal } = invocation;
    if (terminal.json || !terminal.errorIsTerminal || !process.stdin.isTTY) await printRequests(invocation);
    else await promptForRequests(invocation);
    return EXIT_OK;
  },
};

async function printRequests(invocation: Invocation): Promise<void> {
  const { terminal } = invocation;
  let told: ReadonlySet<string> = new Set();
  for await (const { approvals } of followApprovals(invocation)) {
    for (const info of approvals) {
      if (told.has(info.approvalId)) continue;
      if (terminal.json) terminal.printJsonLine(messageToJson(ApprovalInfoSchema, info));
      else {
        const how = `see all of it with \`${terminal.program} approvals show ${info.approvalId} --whole\``;
        terminal.print(...renderApproval(info, terminal.paint, { maxCharacters: MAX_SHOWN_CHARACTERS, how }), "");
      }
    }
    told = new Set(approvals.map(({ approvalId }) => approvalId));
  }
}

/** Prompts for one approval request at a time. When a request is resolved elsewhere, a note says so. */
async function promptForRequests(invocation: Invocation): Promise<void> {
  const { terminal, signal } = invocation;
  const keys = await openKeyReader(process.stdin);
  terminal.note(terminal.errorPaint.dim("watching for questions; Ctrl-C ends"));
  const left = new Set<string>();
  let asking: { readonly id: string; readonly stop: AbortController } | undefined;
  let known: readonly ApprovalInfo[] = [];
  let kernel: KernelConnection | undefined;

  const askNext = (): void => {
    const next = known.find(({ approvalId }) => !left.has(approvalId));
    if (asking !== undefined || next === undefined || kernel === undefined) return;
    const stop = new AbortController();
    asking = { id: next.approvalId, stop };
    void promptAndResolve(invocation, kernel, { info: next, keys, signal: AbortSignal.any([signal, stop.signal]) })
      .catch((fault: unknown) => {
        terminal.note(terminal.errorPaint.red(visible(fault instanceof Error ? fault.message : String(fault))));
        return "later" as const;
      })
      .then((end) => {
        // A decision that could not be sent is asked for again with the next list, if the request is still pending.
        if (end !== "unsent") left.add(next.approvalId);
        asking = undefined;
        if (end !== "unsent") askNext();
      });
  };

  try {
    for await (const list of followApprovals(invocation)) {
      ({ approvals: known, kernel } = list);
      if (asking !== undefined && !known.some(({ approvalId }) => approvalId === asking?.id)) {
        asking.stop.abort();
        terminal.note(terminal.errorPaint.dim("the request was decided elsewhere, or no caller waits for it any more"));
      }
      askNext();
    }
  } finally {
    keys.close();
  }
}

interface RequestPrompt {
  readonly info: ApprovalInfo;
  readonly keys: KeyReader;
  readonly signal: AbortSignal;
}

async function promptAndResolve(
  invocation: Invocation,
  kernel: KernelConnection,
  { info, keys, signal }: RequestPrompt,
): Promise<"answered" | "later" | "unsent"> {
  const { terminal, options } = invocation;
  let answer: PromptDecision;
  try {
    answer = await promptForApproval(info, { terminal, keys, canWait: true }, signal);
  } catch {
    return "later";
  }
  if (answer === "later") return "later";
  const approver = options.text("by") ?? loginName();
  const { approvalId } = info;
  try {
    await kernel.resolveApproval({ approvalId, answer, words: undefined, approver, reason: undefined });
    terminal.note(visible(`${answer === "deny" ? "denied" : `approved (${answer})`} ${approvalId}`));
    return "answered";
  } catch (error) {
    if (!isKernelError(error) && !(error instanceof CommandError)) throw error;
    terminal.note(terminal.errorPaint.red(visible(error.message)));
    return error.code === "KERNEL_UNAVAILABLE" ? "unsent" : "answered";
  }
}
