import { chmod, chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import type { JsonValue } from "@narthex/contracts";
import type { Capability } from "@narthex/kernel";
import { createKernel } from "narthex";
import { WORKSPACE_OWNER } from "../sandbox/open-workbench.ts";

export interface NetworkBench {
  /** Rejects unless it succeeded. */
  call(tool: string, input: JsonValue): Promise<unknown>;
  close(): Promise<void>;
}

/** Nobody is asked: what is measured is the machine, not a person. */
const POLICY = '@id("bench-network") @approve("none") permit(principal, action, resource);';

/** A kernel in this process with a home and a workspace of its own, and a session that may ask the loopback. */
export async function openNetwork(directory: string, port: number): Promise<NetworkBench> {
  await chmod(directory, 0o755);
  const workspace = join(directory, "workspace");
  await mkdir(workspace);
  if (process.getuid?.() === 0) await chown(workspace, WORKSPACE_OWNER, WORKSPACE_OWNER);
  const policies = [{ name: "bench.cedar", text: POLICY }];
  const kernel = await createKernel({ data: join(directory, "home"), policies });
  const hosts = [{ host: "127.0.0.1", ports: [port] }];
  const capabilities: readonly Capability[] = [
    { kind: "fs_read", prefixes: [workspace] },
    { kind: "fs_write", prefixes: [workspace] },
    { kind: "exec", names: ["*"] },
    { kind: "net_read", hosts },
    { kind: "net_write", hosts },
  ];
  const session = await kernel.session({ workspace, lease: { capabilities } });
  return {
    async call(tool, input) {
      const { status, response, raw } = await session.callTool(tool, input);
      if (status !== "success") throw new Error(`${tool} answered ${status}: ${inspect(response.result.value)}`);
      return raw;
    },
    close: () => kernel.close(),
  };
}
