import { toHex } from "@narthex/contracts";
import { createMemoryStore, createTestKernel, echoTool, type MemoryStore, type TestKernel } from "@narthex/testkit";
import type { Capability } from "../../capability/capability.ts";
import type { KernelOptions } from "../../kernel-options.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { Tool } from "../../tool/tool.ts";

const FILES: readonly Capability[] = [
  { kind: "fs_read", prefixes: [] },
  { kind: "fs_write", prefixes: [] },
];
const NETWORK: Capability = { kind: "net_write", hosts: [{ host: "*" }] };
const HASH = { type: "object", properties: { hash: { type: "string" } }, required: ["hash"] } as const;

/** Rights of test sessions: the workspace, and the network. */
const RIGHTS: readonly Capability[] = [
  { kind: "fs_read", prefixes: ["/"] },
  { kind: "fs_write", prefixes: ["/"] },
  NETWORK,
];

/** Tools that declare that they work in the workspace or send data; the callbacks let the test observe what they do. */
export function labelTools(during: { writing?: () => Promise<void>; sent?: (bytes: Uint8Array) => void } = {}): Tool[] {
  return [
    echoTool,
    defineTool({
      name: "write_there",
      description: "Writes in the workspace.",
      inputSchema: true,
      effects: ["fs_write"],
      capabilities: FILES,
      run: async (input) => {
        await during.writing?.();
        if (input === "fail") throw new Error("half way through");
        return null;
      },
    }),
    defineTool({
      name: "read_there",
      description: "Reads in the workspace.",
      inputSchema: true,
      effects: ["fs_read"],
      tier: "read_only",
      capabilities: FILES,
      resultType: "stream",
      run: async function* () {
        yield Buffer.from("what was there");
      },
    }),
    defineTool({
      name: "take",
      description: "Reads content.",
      inputSchema: HASH,
      tier: "read_only",
      resultType: "stream",
      run: ({ hash }, { content }) => content.stream(hash, 0, 0),
    }),
    defineTool({
      name: "place",
      description: "Writes content into the workspace.",
      inputSchema: HASH,
      effects: ["fs_write"],
      capabilities: FILES,
      run: async ({ hash }, { content }) => {
        await content.read(hash, 0, 0);
        await during.writing?.();
        return null;
      },
    }),
    defineTool({
      name: "send",
      description: "Sends content out.",
      inputSchema: HASH,
      effects: ["net_write"],
      determinism: "external",
      capabilities: [NETWORK],
      run: async ({ hash }, { content }) => {
        during.sent?.(await content.read(hash, 0, 0));
        return null;
      },
    }),
    defineTool({
      name: "upload",
      description: "Sends what is in the workspace.",
      inputSchema: true,
      effects: ["fs_read", "net_write"],
      determinism: "external",
      capabilities: [...FILES, NETWORK],
      run: () => null,
    }),
  ];
}

export interface LabelledKernel extends TestKernel {
  put(sessionId: string, text: string, labels?: readonly string[]): Promise<string>;
  labelsOf(sessionId: string): Promise<readonly string[] | undefined>;
}

export async function createLabelledKernel(
  options: Partial<KernelOptions> & { readonly store?: MemoryStore; readonly tools?: readonly Tool[] } = {},
): Promise<LabelledKernel> {
  const { tools = labelTools(), store = createMemoryStore() } = options;
  const at = await createTestKernel({ ...options, tools, store });
  const { kernel } = at;
  return {
    ...at,
    open: (session = {}) => at.open({ lease: { capabilities: RIGHTS }, ...session }),
    async put(sessionId, text, labels = []) {
      const chunks = (async function* () {
        yield Buffer.from(text);
      })();
      return toHex((await kernel.putContent({ sessionId, door: "test", labels, chunks })).hash);
    },
    labelsOf: async (sessionId) => (await kernel.getSession(sessionId))?.session.labels,
  };
}
