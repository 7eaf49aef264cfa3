import assert from "node:assert/strict";
import { createMemoryContentStore, createMemoryStore, createTestKernel } from "@narthex/testkit";
import type { CallResult } from "../../../kernel.ts";
import type { ContentStore } from "../../../ports.ts";
import { verifyStore } from "../../../testing/verify-store.ts";
import { defineTool } from "../../../tool/define-tool.ts";
import type { Tool, ToolContext, ToolOutput } from "../../../tool/tool.ts";

export const ARTIFACTS = {
  effects: ["artifact"],
  capabilities: [{ kind: "artifact", names: ["*"] }],
  tier: "side_effecting",
} as const;

export function makeTool(run: (context: ToolContext) => unknown, extra: Partial<Tool> = {}): Tool {
  const tool = defineTool({
    name: "tool",
    description: "Misbehaves.",
    inputSchema: true,
    tier: "read_only",
    run: () => 0,
  });
  return { ...tool, ...extra, run: (_, context) => run(context) as ToolOutput };
}

export const streaming = (chunks: () => AsyncIterable<unknown>, extra: Partial<Tool> = {}) =>
  makeTool(chunks, { resultType: "stream", normalise: "binary", ...extra });

export function errorOf({ response: { result } }: CallResult) {
  return result.case === "error" ? result.value : assert.fail(result.case);
}

export async function call(
  tool: Tool,
  options: Parameters<Awaited<ReturnType<typeof openOn>>["session"]["call"]>[2] = {},
) {
  const { session, store } = await openOn(tool);
  const result = await session.call("tool", {}, options);
  await verifyStore(store);
  return result;
}

export async function openOn(tool: Tool, contentStore: ContentStore = createMemoryContentStore()) {
  const store = createMemoryStore();
  const made = await createTestKernel({ tools: [tool], store, contentStore });
  return { ...made, session: await made.open(), store };
}

export const turn = () => new Promise((resolve) => setImmediate(resolve));

export function throwing(fault: unknown): never {
  throw fault;
}

export function slowFiles(before: () => void): ContentStore {
  const files = createMemoryContentStore();
  return {
    ...files,
    async openWriter() {
      const writer = await files.openWriter();
      return {
        ...writer,
        async write(chunk) {
          await turn();
          before();
          await writer.write(chunk);
        },
      };
    },
  };
}

export function countingFiles() {
  const files = createMemoryContentStore();
  let open = 0;
  let committed = 0;
  const store: ContentStore = {
    ...files,
    async openWriter() {
      const writer = await files.openWriter();
      open++;
      return {
        write: (chunk) => writer.write(chunk),
        async commit() {
          open--;
          committed++;
          return writer.commit();
        },
        async abort() {
          open--;
          await writer.abort();
        },
      };
    },
  };
  return { store, open: () => open, committed: () => committed };
}
