import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { fromHex } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { keepToken } from "../connection/session-token.ts";
import { CommandError, usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderFacts } from "../terminal/table.ts";
import { formatTime } from "../terminal/units.ts";
import type { Command, Invocation } from "./command.ts";
import { sessionToJson } from "./session-view.ts";

const MAX_LEASE_BYTES = 1024 * 1024;
const SEED_BYTES = 32;

export const sessionOpenCommand: Command = {
  details:
    "The session's token is shown once, in --json, and kept in a file only you can read, so that other commands find it " +
    "by the session's id.",
  options: [
    { flags: "--workspace <dir>", description: "the directory the agent works in (required)" },
    { flags: "--cwd <dir>", description: "working directory inside the workspace (default: its root)" },
    { flags: "--tenant <name>", description: "whose work this is" },
    { flags: "--user <name>", description: "the person behind the agent" },
    { flags: "--agent <name>", description: "the agent" },
    {
      flags: "--seed <hex>",
      description: "32 bytes from which clock and random of every call derive (default: random)",
    },
    { flags: "--ttl <duration>", description: "how long it may last, such as 30m or 8h (default: 8h)" },
    {
      flags: "--lease <file>",
      description: "the lease asked for, as JSON (default: all tools, the workspace, no network)",
    },
  ],
  examples: ["narthex session open --workspace ~/project --agent reviewer --ttl 2h"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const workspace = options.text("workspace");
    if (workspace === undefined) throw usageError("session open needs --workspace DIR");
    const cwd = options.text("cwd");
    const request = {
      workspace: resolve(workspace),
      workingDirectory: cwd === undefined ? undefined : resolve(workspace, cwd),
      tenant: options.text("tenant"),
      user: options.text("user"),
      agent: options.text("agent"),
      seed: parseSeed(options.text("seed")),
      lease: await readLease(invocation),
      ttlMs: options.durationMs("ttl"),
    };
    const { session, token } = await withConnection(invocation, "session open", (kernel) =>
      kernel.openSession(request),
    );
    const tokenFile = await keepToken(session.sessionId, token, invocation.environment);
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
      `${terminal.paint.dim("next:")} narthex call echo '{"text":"hello"}' --session ${session.sessionId}`,
    );
    return EXIT_OK;
  },
};

function parseSeed(text: string | undefined): Uint8Array | undefined {
  if (text === undefined) return undefined;
  const seed = fromHex(text);
  if (seed?.length !== SEED_BYTES) throw usageError(`--seed takes ${2 * SEED_BYTES} hex digits`);
  return seed;
}

async function readLease({ options }: Invocation): Promise<string | undefined> {
  const path = options.text("lease");
  if (path === undefined) return undefined;
  const file = await open(path).catch((cause: unknown) => {
    throw new CommandError("LEASE_INVALID", `the lease file \`${path}\` cannot be read`, { cause });
  });
  try {
    const { size } = await file.stat();
    if (size > MAX_LEASE_BYTES) throw new CommandError("LEASE_INVALID", `the lease file \`${path}\` is too large`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
