import { parseToken } from "@narthex/contracts";
import { loadSessionToken } from "@narthex/host/session-tokens";
import { findToken } from "../connection/session-token.ts";
import { usageError } from "../terminal/command-error.ts";
import type { Invocation, OptionDescription } from "./command.ts";

export const SESSION_OPTION: OptionDescription = {
  flags: "--session <id>",
  description: "the session, by its id, or @FILE with its token (default: NARTHEX_TOKEN, or the first session)",
};

const SESSION_ID = /^ses_[a-z2-7]{20}$/;

/** Finds the session that a command is about, and its token if available: the owner of the home needs none. */
export async function readSessionReference(
  invocation: Invocation,
): Promise<{ readonly sessionId: string; readonly token: string | undefined }> {
  const named = invocation.options.text("session");
  if (named !== undefined && SESSION_ID.test(named)) {
    return { sessionId: named, token: await loadSessionToken(named, invocation.environment) };
  }
  const token = await findToken(invocation);
  const parsed = parseToken(token);
  if (parsed === undefined) throw usageError("what was given is no session's token");
  return { sessionId: parsed.sessionId, token };
}
