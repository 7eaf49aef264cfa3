import { chmod, chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import type { JsonValue } from "@narthex/contracts";
import { createKernel, type KernelSession, type NarthexKernel } from "narthex";

export interface Workbench {
  readonly kernel: NarthexKernel;
  readonly session: KernelSession;
  readonly workspace: string;
  /** A call that rejects unless it succeeded. */
  call(tool: string, input: JsonValue, session?: KernelSession): Promise<void>;
  close(): Promise<void>;
}

/** Tools are permitted without asking: what is measured is the machine, not a person. */
const POLICY = ["shell_exec", "shell_spawn", "file_search"]
  .map(
    (action) => `@id("bench-${action}") @approve("none") permit(principal, action == Action::"${action}", resource);`,
  )
  .join("\n");

/** A user that is not root: programs never run as root. */
export const WORKSPACE_OWNER = process.getuid?.() === 0 ? 1000 : (process.getuid?.() ?? 1000);

/** A kernel in this process with a home, a policy and a workspace of its own. */
export async function openWorkbench(directory: string, settings = ""): Promise<Workbench> {
  await chmod(directory, 0o755);
  const workspace = join(directory, "workspace");
  await mkdir(workspace);
  if (process.getuid?.() === 0) await chown(workspace, WORKSPACE_OWNER, WORKSPACE_OWNER);
  const home = join(directory, "home");
  if (settings !== "") await prepareSettings(home, settings);
  const kernel = await createKernel({ data: home, policies: [{ name: "bench.cedar", text: POLICY }] });
  const session = await kernel.session({ workspace });
  return {
    kernel,
    session,
    workspace,
    async call(tool, input, caller = session) {
      const { status, response } = await caller.call(tool, input);
      if (status !== "success") throw new Error(`${tool} answered ${status}: ${inspect(response.result.value)}`);
    },
    close: () => kernel.close(),
  };
}

async function prepareSettings(home: string, settings: string): Promise<void> {
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "narthex.yaml"), settings, { mode: 0o600 });
}
