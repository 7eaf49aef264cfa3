import { setTimeout as sleep } from "node:timers/promises";
import type { ApprovalInfo } from "@narthex/contracts";
import type { KeyReader } from "../terminal/key-reader.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { renderApproval, renderTerms } from "./approvals-view.ts";

/** Decision that the user entered; `later` leaves the approval request pending. */
export type PromptDecision = "once" | "session" | "rule" | "deny" | "later";

export interface Prompt {
  readonly terminal: Terminal;
  readonly keys: KeyReader;
  /** Whether the user may leave the approval request pending. */
  readonly canWait: boolean;
}

/** Limits of what is shown of a call at first; the rest is shown on demand, and the cut is always stated. */
const MAX_LINES = 60;
const MAX_CHARACTERS = 16 * 1024;
const SETTLE_MS = 500;

/**
 * Shows an approval request and waits for a key. Rejects when the signal aborts: the request was resolved elsewhere or
 * has ended.
 */
export async function promptForApproval(
  info: ApprovalInfo,
  { terminal, keys, canWait }: Prompt,
  signal: AbortSignal,
): Promise<PromptDecision> {
  const { errorPaint: paint } = terminal;
  const hasRule = info.ruleText !== "";
  const hasSession = info.sessionScope !== "";
  const lines = renderApproval(info, paint);
  const text = lines.join("\n");
  const first = lines.slice(0, MAX_LINES).join("\n").slice(0, MAX_CHARACTERS);
  const isCut = first.length < text.length;
  terminal.note("", paint.bold("May this run?"), first);
  // SECURITY: a call cannot be approved before all of it was shown.
  let isSeen = !isCut;
  if (isCut) {
    const more = [`${lines.length - first.split("\n").length} more lines`, `${text.length - first.length} characters`];
    terminal.note(paint.red(`cut here: ${more.join(", ")}; press ? to see all of it`));
  }
  // SECURITY: a key that was meant for the previous approval request must not decide this one.
  await sleep(SETTLE_MS, undefined, { signal });
  for (;;) {
    const longer = [...(hasSession ? ["s for the session"] : []), ...(hasRule ? ["r as a rule"] : [])];
    const choices = isSeen ? ["o once", ...longer] : [];
    terminal.note(paint.cyan([...choices, "d deny", "? details", ...(canWait ? ["n later"] : [])].join(" · ")));
    const key = await keys.next(signal);
    if (key === "d") return "deny";
    if (key === "n" && canWait) return "later";
    if (key === "?") {
      terminal.note(...lines, "", ...renderTerms(info, paint));
      isSeen = true;
    } else if (isSeen && key === "o") return "once";
    else if (isSeen && key === "s" && hasSession) {
      if (await confirm(renderTerms({ ...info, ruleText: "" }, paint))) return "session";
    } else if (isSeen && key === "r" && hasRule) {
      if (await confirm(renderTerms(info, paint))) return "rule";
    }
  }

  /** Shows what a standing approval would allow and asks for confirmation. */
  async function confirm(terms: readonly string[]): Promise<boolean> {
    terminal.note(...terms, paint.cyan("y yes, so · any other key: back"));
    return (await keys.next(signal)) === "y";
  }
}
