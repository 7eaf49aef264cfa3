import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestKernel, echoTool } from "@narthex/testkit";
import { defineTool } from "../../tool/define-tool.ts";
import type { ToolContext } from "../../tool/tool.ts";
import { errorOf } from "../invoke/testing/hostile-tool.ts";
import { scriptPrograms } from "./testing/scripted-programs.ts";

/** An inline tool without a single effect that reaches for one port after the other. */
const reaching = (reach: (context: ToolContext) => Promise<unknown>) =>
  defineTool({
    name: "reach",
    description: "Reaches for what it did not declare.",
    inputSchema: true,
    tier: "read_only",
    run: async (_, context) => {
      await reach(context);
      return "reached";
    },
  });

const HASH = "00".repeat(32);
const REACHES: Readonly<Record<string, readonly [string, (context: ToolContext) => Promise<unknown>]>> = {
  "reading a file": ["UNDECLARED_EFFECT", ({ files }) => files.run({ kind: "read", path: "a", offset: 0, limit: 0 })],
  "writing a file": [
    "UNDECLARED_EFFECT",
    ({ files }) => files.run({ kind: "write", path: "a", content: new Uint8Array(1), mode: "replace" }),
  ],
  "the vault": ["UNDECLARED_EFFECT", ({ vault }) => vault.copyTo("a", "b")],
  publishing: [
    "UNDECLARED_EFFECT",
    ({ artifacts }) => artifacts.publish({ artifact_id: "a", content_hash: HASH, category: "c", metadata: [] }),
  ],
  "a program": ["UNDECLARED_EFFECT", ({ programs }) => programs.run({ command: ["true"], workingDirectory: "." })],
  "content of others": ["CONTENT_NOT_FOUND", ({ content }) => content.stat(HASH)],
};

for (const [name, [code, reach]] of Object.entries(REACHES)) {
  test(`inline code gets only the ports of its grant: ${name} is ${code}`, async () => {
    const programs = scriptPrograms({});
    const { open } = await createTestKernel({ tools: [reaching(reach)], programs });
    const { errorCode, message } = errorOf(await (await open()).call("reach", {}));
    assert.equal(errorCode, code, message);
  });
}

test("the context of inline code holds the ports of the grant and nothing else", async () => {
  const seen = new Set<string>();
  const looking = reaching(async (context) => {
    for (
      let at: object | null = context;
      at !== null && at !== Object.prototype;
      at = Object.getPrototypeOf(at) as object | null
    ) {
      for (const name of Object.getOwnPropertyNames(at)) if (name !== "constructor") seen.add(name);
    }
  });
  const { open } = await createTestKernel({ tools: [looking] });
  await (await open()).call("reach", {});
  const ports = [
    "artifacts",
    "content",
    "decide",
    "files",
    "network",
    "nowMs",
    "pages",
    "programs",
    "randomBytes",
    "shell",
    "signal",
    "spending",
    "timeLeftMs",
    "vault",
    "wasm",
  ];
  assert.deepEqual([...seen].sort(), ["callNumber", ...ports, "requestId", "session"].sort());
});

test("entries of an inline call record that its code ran inline as trusted code", async () => {
  const { open, records } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  await session.call("echo", {});
  const kinds = (await records()).flatMap(({ entries }) => entries.map(({ kind }) => kind));
  for (const wanted of ["toolRegistered", "toolInvoked"] as const) {
    const found = kinds.find((kind) => kind.case === wanted);
    assert.ok(found?.case === wanted && found.value.isolation === "inline", wanted);
  }
});
