import { withConnection } from "../connection/open-connection.ts";
import { storeToken } from "../connection/session-token.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderFacts } from "../terminal/table.ts";
import { formatTime } from "../terminal/units.ts";
import type { Command } from "./command.ts";
import { checkOwnCode } from "./own-code-option.ts";
import { readSessionOptions, SESSION_OPTIONS } from "./session-options.ts";
import { sessionToJson } from "./session-view.ts";
import { formatCommandPrefix } from "./command-prefix.ts";

export const sessionOpenCommand: Command = {
  details:
    "The session's token is shown once, in --json, and kept in a file only you can read, so that other commands find it " +
    "by the session's id.",
  options: SESSION_OPTIONS,
  examples: ["narthex session open --workspace ~/project --agent reviewer --ttl 2h"],

  async run(invocation) {
    const { terminal, environment } = invocation;
    const request = await readSessionOptions(invocation);
    const ownCode = await checkOwnCode(invocation, request.workspace);
    const { session, token } = await withConnection({ ...invocation, ownCode }, "session open", (kernel) =>
      kernel.openSession(request),
    );
    const tokenFile = await storeToken(session.sessionId, token, environment);
    if (terminal.json) {
      terminal.printJson({ ...sessionToJson(session), token, token_file: tokenFile });
      return EXIT_OK;
    }
    terminal.print(
      ...renderFacts([
        ["session", session.sessionId],
        ["workspace", session.workspace],
        ["expires", formatTime(session.expiresAtMs)],
        ["token", `kept in ${tokenFile}`],
      ]),
      "",
      `${terminal.paint.dim("next:")} ${formatCommandPrefix(invocation)} call echo '{"text":"hello"}' --session ${session.sessionId}`,
    );
    return EXIT_OK;
  },
};
