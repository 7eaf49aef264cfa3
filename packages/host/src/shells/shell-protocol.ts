import type { ShellCommand } from "@narthex/kernel";
import { CHANNEL_DESCRIPTOR, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";

/** Descriptors where the shell keeps its own output while commands redirect theirs. */
const [OUT, ERR] = [CHANNEL_DESCRIPTOR + 1, CHANNEL_DESCRIPTOR + 2];

/** Bash reads its commands from standard input: a loop written in bash could be left with `break`. */
export const SHELL_PROGRAM = ["/bin/bash", "--norc", "--noprofile", "-s"];

/** First lines sent to a new shell. */
export const FIRST_LINES = `exec ${OUT}>&1 ${ERR}>&2\n`;

/**
 * Returns the lines that run one command and report its exit code.
 *
 * SECURITY: while the command runs, the channel and the shell's own output are closed for it: bash keeps them under
 * other numbers that no program inherits. The command's standard input is not the one that bash reads commands from.
 */
export function commandLines({ command, workingDirectory, environment, input }: Lines): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${quote(value)} `);
  const change = workingDirectory === undefined ? "" : `cd -- ${quote(insidePath(workingDirectory))} && `;
  const source = input.length === 0 ? "</dev/null" : `< <(builtin printf '%b' ${quote(escapeBytes(input))})`;
  const run = `{ ${change}${variables.join("")}eval ${quote(command)}; }`;
  const files = `${source} >&${OUT} 2>&${ERR} ${CHANNEL_DESCRIPTOR}>&- ${OUT}>&- ${ERR}>&-`;
  return `${run} ${files}\n{ builtin printf '%d\\n' "$?" >&${CHANNEL_DESCRIPTOR}; } 2>/dev/null\n`;
}

type Lines = Pick<ShellCommand, "command" | "workingDirectory" | "environment" | "input">;

/** Returns the line that marks the end of the last command's output. */
export function markLines(mark: string): string {
  return `{ builtin printf '%s' ${mark} >&${OUT}; builtin printf '%s' ${mark} >&${ERR}; } 2>/dev/null\n`;
}

/** Accepts exactly one exit code and nothing else. */
export function parseStatus(line: string): number | undefined {
  return /^(?:0|[1-9][0-9]{0,2})$/.test(line) ? Number(line) : undefined;
}

function insidePath(path: string): string {
  return path === "." ? WORKSPACE_PATH : `${WORKSPACE_PATH}/${path}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Escapes bytes for `printf '%b'`, because a bash variable cannot contain NUL. */
function escapeBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8").replaceAll("\\", "\\\\").replaceAll("\0", "\\0000");
}
