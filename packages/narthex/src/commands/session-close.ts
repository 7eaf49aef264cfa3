import { withConnection } from "../connection/open-connection.ts";
import { deleteToken } from "../connection/session-token.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { formatCounted } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";
import { sessionToJson } from "./session-view.ts";

export const sessionCloseCommand: Command = {
  arguments: [{ name: "<session>", description: "the session's id" }],
  examples: ["narthex session close ses_abcdefghij234567abcd"],

  async run(invocation) {
    const { terminal } = invocation;
    const [sessionId] = invocation.arguments;
    if (sessionId === undefined) throw usageError("session close needs a session's id");
    const session = await withConnection(invocation, "session close", (kernel) => kernel.closeSession(sessionId));
    await deleteToken(session.sessionId, invocation.environment);
    if (terminal.json) terminal.printJson(sessionToJson(session));
    else terminal.print(`closed ${visible(session.sessionId)} after ${formatCounted(session.calls, "call")}`);
    return EXIT_OK;
  },
};
