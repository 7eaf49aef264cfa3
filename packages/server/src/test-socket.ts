import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { create, type ToolRequest, ToolRequestSchema } from "@narthex/contracts";
import type { TestKernel } from "./test-kernel.ts";

/** Returns a path for a socket in a private directory that is removed after the test. */
export async function socketPath(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "ntx-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return join(directory, "s");
}

export function toolCall(kernel: TestKernel, requestId: string, name = "echo", input: unknown = {}): ToolRequest {
  const value = { name, input: new TextEncoder().encode(JSON.stringify(input)) };
  return create(ToolRequestSchema, { requestId, sessionToken: kernel.token, tool: { case: "call", value } });
}

/** Resolves once the condition holds; checks again after each turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > giveUpAt) throw new Error("what was waited for did not happen");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
