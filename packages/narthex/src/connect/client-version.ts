import { execFile } from "node:child_process";
import { access, constants, realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { isInside, removeWorkspaceFromPath } from "./remove-workspace-from-path.ts";

/** Which versions of a client the configuration is known to work with. */
export interface ClientVersions {
  /** The command that prints its version. */
  readonly command: string;
  /** The version that the configuration was tried with. */
  readonly tried: string;
  /** Versions before this one do not do what the configuration asks. */
  readonly least: string;
  /** What they do instead. */
  readonly before: string;
}

const TIMEOUT_MS = 5000;
const MAX_OUTPUT_BYTES = 64 * 1024;
const run = promisify(execFile);

/** What a person should know about the installed version of a client; undefined where all is well. */
export async function versionWarning(
  { command, tried, least, before }: ClientVersions,
  title: string,
  where: { readonly workspace: string; readonly environment: NodeJS.ProcessEnv },
): Promise<string | undefined> {
  const program = await findProgram(command, where);
  if (program === undefined) {
    return `\`${command}\` is not on the PATH, so its version is unknown; version ${least} or later of ${title} is needed`;
  }
  const PATH = removeWorkspaceFromPath(where.environment["PATH"] ?? "", where.workspace);
  const version = await readVersion(program, { ...where.environment, PATH });
  if (version === undefined) return `\`${command} --version\` told no version; ${least} or later of ${title} is needed`;
  if (isBefore(version, least))
    return `${title} ${version} ${before}: update it to ${least} or later (tried: ${tried})`;
  return undefined;
}

/**
 * SECURITY: a program that lies in the workspace is the agent's to write, and is not run. npm puts `node_modules/.bin` on
 * the PATH of what it starts.
 */
async function findProgram(
  command: string,
  { workspace, environment }: { readonly workspace: string; readonly environment: NodeJS.ProcessEnv },
): Promise<string | undefined> {
  for (const directory of (environment["PATH"] ?? "").split(":").filter(isAbsolute)) {
    const program = join(directory, command);
    const real = await realpath(program).catch(() => undefined);
    if (real === undefined || isInside(real, workspace) || isInside(program, workspace)) continue;
    const isProgram = await access(real, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isProgram) return program;
  }
  return undefined;
}

async function readVersion(program: string, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  try {
    // Far from the workspace, whose configuration it would read.
    const options = { cwd: "/", env: environment, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES };
    const { stdout } = await run(program, ["--version"], { ...options, killSignal: "SIGKILL" });
    return /\d+\.\d+\.\d+/.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}

function isBefore(version: string, least: string): boolean {
  const numbers = version.split(".").map(Number);
  for (const [index, number] of least.split(".").map(Number).entries()) {
    const own = numbers[index] ?? 0;
    if (own !== number) return own < number;
  }
  return false;
}
