import { resolve } from "node:path";
import { withConnection } from "../connection/open-connection.ts";
import { storeToken } from "../connection/session-token.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderFacts } from "../terminal/table.ts";
import { formatTime } from "../terminal/units.ts";
import type { Command } from "./command.ts";
import { LEASE_OPTIONS, readLeaseRequest } from "./lease-request.ts";
import { readSessionReference, SESSION_OPTION } from "./session-reference.ts";
import { parseContentHash } from "./content-hash.ts";
import { LABEL_OPTION, parseSeed } from "./session-options.ts";
import { sessionToJson } from "./session-view.ts";

export const leaseDelegateCommand: Command = {
  details:
    "What you do not name is what the session may delegate, and its whole rest of each budget. The new session's token is " +
    "shown once, in --json, and kept in a file only you can read.",
  options: [
    SESSION_OPTION,
    ...LEASE_OPTIONS,
    { flags: "--agent <name>", description: "the agent, for the home's owner only (default: the session's own)" },
    { flags: "--cwd <dir>", description: "working directory inside the workspace (default: the session's own)" },
    { flags: "--seed <hex>", description: "32 bytes from which each call's clock and random derive (default: random)" },
    LABEL_OPTION,
    {
      flags: "--grant <hash>",
      description: "content that the session may name, and the new one too; may be repeated",
      repeatable: true,
    },
  ],
  examples: [
    "narthex lease delegate --session ses_abcdefghij234567abcd --tools 'file_*,hash' --tier read_only --budget calls=100 --ttl 30m",
  ],

  async run(invocation) {
    const { terminal, environment, options } = invocation;
    const lease = await readLeaseRequest(options);
    const seed = parseSeed(options.text("seed"));
    const agent = options.text("agent");
    const cwd = options.text("cwd");
    const labels = options.texts("label");
    const contentHashes = options.texts("grant").map((hash) => parseContentHash(hash, "--grant"));
    const { sessionId: parentSessionId, token: parentToken } = await readSessionReference(invocation);
    // Only a session can grant content that it may name.
    if (contentHashes.length > 0 && parentToken === undefined) {
      throw usageError("--grant needs the session's own token: give it by --session @FILE or NARTHEX_TOKEN");
    }
    // SECURITY: rules depend on the agent's name, so a session cannot choose the name of its child; the owner of the
    // home can.
    if (contentHashes.length > 0 && agent !== undefined) {
      throw usageError("--grant is the session's to give, --agent the home owner's: they cannot be said together");
    }
    const { session, token } = await withConnection(invocation, "lease delegate", async (kernel) => {
      const workspace = cwd === undefined ? undefined : (await kernel.getSession(parentSessionId)).workspace;
      const workingDirectory = cwd === undefined || workspace === undefined ? undefined : resolve(workspace, cwd);
      return kernel.delegateLease({
        parentSessionId,
        token: agent === undefined ? parentToken : undefined,
        workingDirectory,
        agent,
        seed,
        lease,
        labels,
        contentHashes,
      });
    });
    const tokenFile = await storeToken(session.sessionId, token, environment);
    if (terminal.json) {
      terminal.printJson({ ...sessionToJson(session), token, token_file: tokenFile });
      return EXIT_OK;
    }
    terminal.print(
      ...renderFacts([
        ["session", session.sessionId],
        ["lease", session.leaseId],
        ["split off", session.parentSessionId],
        ["expires", formatTime(session.expiresAtMs)],
        ["token", `kept in ${tokenFile}`],
      ]),
    );
    return EXIT_OK;
  },
};
