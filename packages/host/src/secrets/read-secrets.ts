import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { promisify } from "node:util";
import type { SecretSource, SecretSources } from "./secret-source.ts";

/** A secret's value, or why it is missing. A problem never contains the value. */
export type ResolvedSecret = { readonly value: string } | { readonly problem: string };
export type ResolvedSecrets = ReadonlyMap<string, ResolvedSecret>;

const MAX_SECRET_BYTES = 64 * 1024;
/** Shorter values would be found, and redacted, in any text. */
const MIN_SECRET_LENGTH = 8;
const COMMAND_TIMEOUT_MS = 10_000;
const run = promisify(execFile);

export interface ReadSecretsOptions {
  readonly sources: SecretSources;
  /** Names of the secrets to read; all by default. */
  readonly names?: ReadonlySet<string>;
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * Reads all secrets once, when the kernel starts.
 *
 * SECURITY: a problem never quotes content, command output or system messages: even an error's text may contain the
 * value.
 */
export async function readSecrets({ sources, names, environment }: ReadSecretsOptions): Promise<ResolvedSecrets> {
  const found = [...sources].filter(([name]) => names?.has(name) ?? true);
  return new Map(
    await Promise.all(
      found.map(async ([name, source]) => [name, judge(await readSource(source, environment))] as const),
    ),
  );
}

async function readSource(source: SecretSource, environment: NodeJS.ProcessEnv): Promise<ResolvedSecret> {
  if ("env" in source) {
    const value = environment[source.env];
    return value === undefined ? { problem: `the variable \`${source.env}\` is not set` } : { value };
  }
  try {
    const bytes = "file" in source ? await readFileOnce(source.file) : await runCommand(source.command, environment);
    if (bytes.length > MAX_SECRET_BYTES) return { problem: `it is larger than ${MAX_SECRET_BYTES} bytes` };
    // Removes the line break at the end, which is not part of the secret.
    return { value: new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/u, "") };
  } catch (fault) {
    const code = fault instanceof Error && "code" in fault ? ` (${String(fault.code)})` : "";
    const what = "file" in source ? `the file \`${source.file}\` cannot be read` : "its command failed";
    return { problem: `${what}${code}` };
  }
}

function judge(secret: ResolvedSecret): ResolvedSecret {
  if ("problem" in secret) return secret;
  if (secret.value.length < MIN_SECRET_LENGTH) {
    return {
      problem: `it has fewer than ${MIN_SECRET_LENGTH} characters, too few to be hidden in what a tool returns`,
    };
  }
  if (secret.value.includes("\0")) return { problem: "it holds a NUL, which no variable can" };
  return secret;
}

async function readFileOnce(path: string): Promise<Uint8Array> {
  // O_NONBLOCK: a pipe in place of the file would otherwise wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(MAX_SECRET_BYTES + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function runCommand([program = "", ...words]: readonly string[], env: NodeJS.ProcessEnv): Promise<Uint8Array> {
  const options = { env, encoding: "buffer", timeout: COMMAND_TIMEOUT_MS, maxBuffer: 2 * MAX_SECRET_BYTES } as const;
  const { stdout } = await run(program, words, options);
  return stdout;
}
