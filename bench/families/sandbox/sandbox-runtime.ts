import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { findRipgrep } from "@narthex/host";
import { SandboxManager } from "@anthropic-ai/sandbox-runtime";
import { NotMeasured } from "../../harness/measurement.ts";

export interface OtherSandbox {
  run(): Promise<void>;
  close(): Promise<void>;
}

/** The same command by @anthropic-ai/sandbox-runtime, as its README says: initialised once, wrapped for each command. */
export async function prepareSandboxRuntime(workspace: string, command: string): Promise<OtherSandbox> {
  // It looks for ripgrep on the PATH.
  process.env["PATH"] = `${process.env["PATH"]}:${dirname(await findRipgrep())}`;
  const filesystem = { denyRead: [], allowWrite: [workspace], denyWrite: [] };
  try {
    await SandboxManager.initialize({ network: { allowedDomains: [], deniedDomains: [] }, filesystem });
  } catch (error) {
    throw new NotMeasured(`sandbox-runtime: ${error instanceof Error ? error.message : String(error)}`);
  }
  return {
    async run() {
      const wrapped = await SandboxManager.wrapWithSandbox(command);
      const child = spawn(wrapped, { shell: true, cwd: workspace, stdio: ["ignore", "pipe", "pipe"] });
      let errors = "";
      child.stdout.resume();
      child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
      const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
      if (code !== 0) throw new NotMeasured(`sandbox-runtime ended with ${code}: ${errors.slice(0, 300)}`);
    },
    close: () => SandboxManager.reset(),
  };
}
