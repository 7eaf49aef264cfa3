import { type ApprovalInfo, canonicalJson, parseJson, type ToolRequest } from "@narthex/contracts";
import { requestConsoleLink } from "../connection/console-link.ts";
import { followKernelApprovals } from "../connection/follow-approvals.ts";
import { tryServicesConnection } from "../connection/open-connection.ts";
import { labelledLines } from "../terminal/labelled-lines.ts";
import { renderFacts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { visibleJson } from "../terminal/visible.ts";
import type { Invocation } from "./command.ts";
import { formatCommandPrefix } from "./command-prefix.ts";

export interface ApprovalNotice {
  /** Stops the notice; called once the call has its response. */
  stop(): void;
}

/** A call that ends sooner needs no approval, so no second connection is opened for it. */
const FIRST_CHECK_MS = 120;

/**
 * Prints on the error stream that a call waits for an approval, as soon as it does, and how to decide. Only for a
 * kernel in another process: a kernel in this process asks on this terminal or denies the call at once.
 */
export function announceApproval(request: ToolRequest, invocation: Invocation): ApprovalNotice {
  const stopping = new AbortController();
  const { signal } = stopping;
  const timer = setTimeout(() => {
    // A failed notice must not fail the call.
    void announce(request, invocation, signal).catch(() => undefined);
  }, FIRST_CHECK_MS);
  return {
    stop() {
      clearTimeout(timer);
      stopping.abort();
    },
  };
}

async function announce(request: ToolRequest, invocation: Invocation, signal: AbortSignal): Promise<void> {
  const kernel = await tryServicesConnection(invocation.home);
  if (kernel === undefined) return;
  // An equal call may consume the approval that this call waited for; then the kernel creates another approval request.
  let told = "";
  try {
    for await (const { approvals } of followKernelApprovals(kernel, signal)) {
      const found = approvals.find((info) => isAbout(info, request));
      if (found === undefined || told === found.approvalId) continue;
      told = found.approvalId;
      await printApproval(found, invocation, signal);
    }
  } finally {
    await kernel.close();
  }
}

/** Whether an approval is that of this call, or of an equal call of the same session that this call has joined. */
function isAbout(info: ApprovalInfo, { requestId, sessionToken, tool }: ToolRequest): boolean {
  if (!sessionToken.includes(info.sessionId)) return false;
  if (info.requestId === requestId) return true;
  return (
    tool.case === "call" && info.tool.startsWith(`${tool.value.name}@`) && isSameInput(info.input, tool.value.input)
  );
}

function isSameInput(input: string, asked: Uint8Array): boolean {
  try {
    return canonicalJson(parseJson(input)) === canonicalJson(parseJson(asked));
  } catch {
    return false;
  }
}

async function printApproval(info: ApprovalInfo, invocation: Invocation, signal: AbortSignal): Promise<void> {
  const { terminal, home } = invocation;
  const narthex = formatCommandPrefix(invocation);
  const { approvalId, ruleIds } = info;
  const commands = {
    approve: `${narthex} approvals approve ${approvalId}`,
    deny: `${narthex} approvals deny ${approvalId}`,
  };
  // SECURITY: the link signs in anyone who reads it. An error stream that is not a terminal is often a log that others
  // can read.
  const link = terminal.errorIsTerminal ? await requestConsoleLink(home).catch(() => undefined) : undefined;
  if (signal.aborted) return;
  if (terminal.json) {
    const waiting = { approval_id: approvalId, rule_ids: [...ruleIds], ...commands };
    terminal.note(visibleJson(JSON.stringify({ waiting })));
    return;
  }
  printNotice(
    info,
    { ...commands, show: `${narthex} approvals show ${approvalId}`, link, console: `${narthex} console` },
    terminal,
  );
}

interface NoticeCommands {
  readonly approve: string;
  readonly deny: string;
  readonly show: string;
  readonly console: string;
  readonly link: string | undefined;
}

function printNotice({ tool, ruleIds }: ApprovalInfo, ways: NoticeCommands, terminal: Terminal): void {
  const paint = terminal.errorPaint;
  terminal.note(
    ...labelledLines(
      { text: "waiting:", width: "waiting: ".length, paint: paint.yellow },
      `a person has to approve ${tool} (rule ${ruleIds.join(", ")}). In another terminal:`,
      terminal,
    ),
    ...renderFacts([
      ["look", ways.show],
      ["approve", ways.approve],
      ["deny", ways.deny],
      ["console", ways.link ?? ways.console],
    ]).map((line) => `  ${line}`),
  );
}
