import { execFile } from "node:child_process";
import { access, constants, realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { isInside, removeWorkspaceFromPath } from "./remove-workspace-from-path.ts";

/** Versions of a client that the configuration is known to work with. */
export interface ClientVersions {
  /** The command that prints its version. */
  readonly command: string;
  /** The version that the configuration was tested with. */
  readonly tried: string;
  /** Earlier versions do not support the configuration. */
  readonly least: string;
  /** What earlier versions do instead. */
  readonly before: string;
}

const TIMEOUT_MS = 5000;
const MAX_OUTPUT_BYTES = 64 * 1024;
const run = promisify(execFile);

/** Warns about the installed version of a client; undefined if there is nothing to warn about. */
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
 * SECURITY: an agent can write a program in the workspace, so such a program is not run. npm puts `node_modules/.bin`
 * on the PATH of the programs it starts.
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
    // Runs outside the workspace, because the program would read the workspace's configuration.
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
