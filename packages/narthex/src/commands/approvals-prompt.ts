import { setTimeout as sleep } from "node:timers/promises";
import type { ApprovalInfo } from "@narthex/contracts";
import type { KeyReader } from "../terminal/key-reader.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { renderApproval, renderTerms } from "./approvals-view.ts";

/** What a person pressed; `later` leaves the question open. */
export type PromptDecision = "once" | "session" | "rule" | "deny" | "later";

export interface Prompt {
  readonly terminal: Terminal;
  readonly keys: KeyReader;
  /** Whether the question may be left open. */
  readonly canWait: boolean;
}

/** So much of a call is shown at once; the rest on demand, and never without saying so. */
const MAX_LINES = 60;
const MAX_CHARACTERS = 16 * 1024;
const SETTLE_MS = 500;

/** Shows a question and waits for a key. Rejects when the signal aborts: the question is answered elsewhere, or over. */
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
  // SECURITY: what was not shown cannot be agreed to.
  let isSeen = !isCut;
  if (isCut) {
    const more = [`${lines.length - first.split("\n").length} more lines`, `${text.length - first.length} characters`];
    terminal.note(paint.red(`cut here: ${more.join(", ")}; press ? to see all of it`));
  }
  // SECURITY: a key that was meant for the question before this one answers nothing.
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

  /** A longer answer is shown before it is given. */
  async function confirm(terms: readonly string[]): Promise<boolean> {
    terminal.note(...terms, paint.cyan("y yes, so · any other key: back"));
    return (await keys.next(signal)) === "y";
  }
}
