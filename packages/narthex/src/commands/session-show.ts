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
    const session = await withConnection(invocation, "session show", (kernel) => kernel.getSession(sessionId));
    if (terminal.json) terminal.printJson(sessionToJson(session));
    else terminal.print(...renderFacts(sessionFacts(session)));
    return EXIT_OK;
  },
};
