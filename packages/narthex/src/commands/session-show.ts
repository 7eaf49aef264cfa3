import { create, ReplayResponseSchema, toHex } from "@narthex/contracts";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import { withConnection } from "../connection/open-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderFacts } from "../terminal/table.ts";
import type { Command } from "./command.ts";
import { sessionFacts, sessionToJson } from "./session-view.ts";

export const sessionShowCommand: Command = {
  arguments: [{ name: "<session>", description: "the session's id" }],
  examples: ["narthex session show ses_abcdefghij234567abcd"],

  async run(invocation) {
    const { terminal } = invocation;
    const [sessionId] = invocation.arguments;
    if (sessionId === undefined) throw usageError("session show needs a session's id");
    const { session, digest } = await withConnection(invocation, "session show", async (kernel) => ({
      session: await kernel.getSession(sessionId),
      digest: await contentDigest(kernel, sessionId, invocation.signal),
    }));
    if (terminal.json) terminal.printJson({ ...sessionToJson(session), content_digest: digest });
    else {
      const facts = sessionFacts(session, terminal.outputIsTerminal ? "named" : "whole");
      const shown = [...facts, ["content digest", digest || "something was erased"] as const];
      terminal.print(...renderFacts(shown, terminal.columns));
    }
    return EXIT_OK;
  },
};

/** Digest over all calls so far; empty if any content it covers was erased. */
async function contentDigest(kernel: KernelConnection, sessionId: string, signal: AbortSignal): Promise<string> {
  const asked = { sessionIds: [sessionId], skipVerify: true, digestOnly: true, listCalls: false };
  for await (const message of kernel.replay(asked, signal)) {
    const { event } = create(ReplayResponseSchema, message);
    if (event.case === "report") return toHex(event.value.contentDigest);
  }
  return "";
}
