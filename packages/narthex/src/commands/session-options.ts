import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { fromHex } from "@narthex/contracts";
import type { OpenSessionInput } from "../connection/kernel-connection.ts";
import { OWN_CODE_OPTION } from "./own-code-option.ts";
import { CommandError, usageError } from "../terminal/command-error.ts";
import type { Invocation, OptionDescription } from "./command.ts";

const MAX_LEASE_BYTES = 1024 * 1024;
const SEED_BYTES = 32;

export const LABEL_OPTION: OptionDescription = {
  flags: "--label <label>",
  description: "a label that the session has from the start, such as secret; may be repeated",
  repeatable: true,
};

/** Options of every command that opens a session. */
export const SESSION_OPTIONS: readonly OptionDescription[] = [
  { flags: "--workspace <dir>", description: "the directory the agent works in (required)" },
  { flags: "--cwd <dir>", description: "working directory inside the workspace (default: its root)" },
  { flags: "--tenant <name>", description: "whose work this is" },
  { flags: "--user <name>", description: "the person behind the agent" },
  { flags: "--agent <name>", description: "the agent" },
  { flags: "--seed <hex>", description: "32 bytes from which each call's clock and random derive (default: random)" },
  { flags: "--ttl <duration>", description: "how long it may last, such as 30m or 8h (default: 8h)" },
  { flags: "--lease <file>", description: "the lease asked for, as JSON (default: all tools, no network)" },
  LABEL_OPTION,
  OWN_CODE_OPTION,
  { flags: "--adopt", description: "hand a workspace of root's, and what is in it, to the user that tools run as" },
];

export async function readSessionOptions({ options }: Invocation): Promise<OpenSessionInput> {
  const workspace = options.text("workspace");
  if (workspace === undefined) throw usageError("--workspace DIR is missing", "name the directory the agent works in");
  const cwd = options.text("cwd");
  return {
    workspace: resolve(workspace),
    workingDirectory: cwd === undefined ? undefined : resolve(workspace, cwd),
    tenant: options.text("tenant"),
    user: options.text("user"),
    agent: options.text("agent"),
    seed: parseSeed(options.text("seed")),
    lease: await readLease(options.text("lease")),
    ttlMs: options.durationMs("ttl"),
    labels: options.texts("label"),
    adopt: options.flag("adopt"),
  };
}

export function parseSeed(text: string | undefined): Uint8Array | undefined {
  if (text === undefined) return undefined;
  const seed = fromHex(text);
  if (seed?.length !== SEED_BYTES) throw usageError(`--seed takes ${2 * SEED_BYTES} hex digits`);
  return seed;
}

/** Reads the lease file as JSON text, unparsed. */
export async function readLease(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const file = await open(path).catch((cause: unknown) => {
    const isText = path.trimStart().startsWith("{");
    const problem = isText ? "--lease takes a file, not the lease itself" : `the lease file \`${path}\` cannot be read`;
    const next = isText
      ? `write the lease into a file and name it: --lease lease.json`
      : "name a file that you can read and that holds the lease as JSON";
    throw new CommandError("LEASE_INVALID", problem, { cause, next });
  });
  try {
    const { size } = await file.stat();
    if (size > MAX_LEASE_BYTES) throw new CommandError("LEASE_INVALID", `the lease file \`${path}\` is too large`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
