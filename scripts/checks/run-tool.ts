import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type CheckResult, failed, passed } from "./check.ts";
import { type ProcessResult, runProcess } from "./run-process.ts";

export const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

/** Runs an installed command, given as its file under node_modules, on this process's Node. */
export function runTool(
  tool: string,
  toolArguments: readonly string[],
  cwd = REPOSITORY,
  environment: NodeJS.ProcessEnv = {},
): Promise<ProcessResult> {
  return runProcess(process.execPath, [join(REPOSITORY, "node_modules", tool), ...toolArguments], cwd, environment);
}

/** For a tool whose exit code is its result. */
export async function checkByTool(run: Promise<ProcessResult>): Promise<CheckResult> {
  const { code, output } = await run;
  return code === 0 ? passed() : failed(output.trim());
}
