import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { create, KernelService, ToolRequestSchema } from "@narthex/contracts";
import type { JsonValue, OpenKernelOptions } from "narthex";
import { createKernel, type SocketKernel } from "../../doors/socket-kernel.ts";

const directory = await mkdtemp(join(tmpdir(), "narthex-policy-"));
await chmod(directory, 0o755);
after(() => rm(directory, { recursive: true, force: true }));
let homes = 0;

export interface Asked {
  readonly case: string | undefined;
  readonly code: string;
  readonly message: string;
  readonly ruleId: string;
}

/** A home whose policy directory has these files and no others, and a way to call through the services' socket. */
export async function openWithPolicy(
  files: Readonly<Record<string, string>>,
  options: Partial<OpenKernelOptions> = {},
  prepare: (policy: string) => Promise<unknown> = () => Promise.resolve(),
) {
  const data = join(directory, `home-${homes++}`);
  await mkdir(join(data, "policy"), { recursive: true, mode: 0o700 });
  // A directory with a file in it is one that a user has set up.
  await writeFile(join(data, "policy", "README"), "rules");
  for (const [name, text] of Object.entries(files)) await writeFile(join(data, "policy", name), text);
  await prepare(join(data, "policy"));
  const workspace = await mkdtemp(join(directory, "workspace-"));
  if (process.getuid?.() === 0) await chown(workspace, 1000, 1000);
  const kernel = await createKernel({ data, ...options });
  const { token } = await kernel.session({ workspace });
  const transport = createConnectTransport({
    baseUrl: "http://localhost",
    httpVersion: "1.1",
    nodeOptions: { socketPath: kernel.sockets.services },
  });
  const client = createClient(KernelService, transport);
  let calls = 0;
  return {
    kernel,
    workspace,
    policy: join(data, "policy"),
    async call(tool: string, input: JsonValue): Promise<Asked> {
      const request = create(ToolRequestSchema, {
        requestId: `r${calls++}`,
        sessionToken: token,
        tool: { case: "call", value: { name: tool, input: Buffer.from(JSON.stringify(input)) } },
      });
      const { result } = await client.call(request);
      if (result.case === "denied") {
        const { rationaleCode: code, message, ruleId } = result.value;
        return { case: "denied", code, message, ruleId };
      }
      if (result.case === "error")
        return { case: "error", code: result.value.errorCode, message: result.value.message, ruleId: "" };
      return { case: result.case, code: "", message: "", ruleId: "" };
    },
    [Symbol.asyncDispose]: () => close(kernel),
  };
}

function close(kernel: SocketKernel): Promise<void> {
  return kernel.close({ graceMs: 0 });
}
