import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { blake3, utf8 } from "@narthex/contracts";
import { createMemoryStore, createTestKernel, createTestPolicy, type TestRule } from "@narthex/testkit";
import { verifyStore } from "../../testing/verify-store.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { Effect, ProgramRequest, Tool } from "../../tool/tool.ts";
import type { Capability } from "../../capability/capability.ts";
import { errorOf } from "../invoke/testing/hostile-tool.ts";
import { type Script, scriptPrograms } from "./testing/scripted-programs.ts";

const RIGHTS: Readonly<Partial<Record<Effect, Capability>>> = {
  fs_read: { kind: "fs_read", prefixes: [] },
  fs_write: { kind: "fs_write", prefixes: [] },
  process_spawn: { kind: "exec", names: [] },
};

function runner(
  request: Partial<ProgramRequest> = {},
  extra: Partial<Tool> = {},
  effects: Effect[] = ["fs_write"],
): Tool {
  const tool = defineTool({
    name: "runner",
    description: "Runs a program.",
    source: "builtin",
    isolation: "process",
    inputSchema: true,
    tier: "side_effecting",
    effects,
    capabilities: effects.flatMap((effect) => RIGHTS[effect] ?? []),
    async run(_, { programs }) {
      const { exitCode, stdout, stderr, exceeded } = await programs.run({
        command: ["program"],
        workingDirectory: ".",
        ...request,
      });
      const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
      return { code: exitCode ?? null, out: text(stdout.head), err: text(stderr.head), limit: exceeded?.limit ?? "" };
    },
  });
  return { ...tool, ...extra };
}

async function callOn(
  tool: Tool,
  script: Script,
  options: { readonly budget?: number; onChunk?(chunk: Uint8Array): void } = {},
) {
  const store = createMemoryStore();
  const programs = scriptPrograms(script);
  const { open, kernel } = await createTestKernel({ tools: [tool], store, programs });
  const budgets = options.budget === undefined ? {} : { lease: { budgets: { stored_bytes: options.budget } } };
  const session = await open(budgets);
  const { onChunk } = options;
  const result = await session.call("runner", {}, onChunk === undefined ? {} : { onChunk });
  await verifyStore(store);
  return { result, programs, kernel, session, store };
}

describe("programs of a call", () => {
  it("return their output, which the session can read again by its hash", async () => {
    const { result, kernel, session } = await callOn(runner(), { stdout: ["a", "b"], stderr: ["c"] });
    assert.deepEqual(result.raw, { code: 0, out: "ab", err: "c", limit: "" });
    for (const text of ["ab", "c"]) {
      const { chunks } = await kernel.getContent(session.id, blake3(Buffer.from(text)), 0, 0);
      assert.equal(Buffer.concat(await Array.fromAsync(chunks)).toString(), text);
    }
    const dropped = await callOn(runner({ kept: [] }), { stdout: ["ab"] });
    const reading = dropped.kernel.getContent(dropped.session.id, blake3(Buffer.from("ab")), 0, 0);
    await assert.rejects(reading, { code: "CONTENT_NOT_FOUND" });
  });

  it("stream their output while they run, and send no more to a listener that fails", async () => {
    const heard: string[] = [];
    const onChunk = (chunk: Uint8Array): void => {
      heard.push(Buffer.from(chunk).toString());
      if (heard.length === 2) throw new Error("gone");
    };
    const { result } = await callOn(runner(), { stdout: ["1", "2", "3", "4"] }, { onChunk });
    assert.equal(result.status, "success");
    assert.deepEqual(heard, ["1", "2"]);
    const unheard: string[] = [];
    await callOn(runner({ isShown: false }), { stdout: ["1"] }, { onChunk: () => void unheard.push("x") });
    assert.deepEqual(unheard, []);
  });

  it("have secrets redacted in their output, even across chunks", async () => {
    const redactors = [{ secrets: ["hunter2"], replacement: "[hidden]" }];
    const heard: string[] = [];
    const { result } = await callOn(
      runner({}, { redactors }),
      { stdout: ["it is hun", "ter2!"], stderr: ["hunter2"] },
      {
        onChunk: (chunk) => void heard.push(Buffer.from(chunk).toString()),
      },
    );
    assert.deepEqual(result.raw, { code: 0, out: "it is [hidden]!", err: "[hidden]", limit: "" });
    assert.ok(!heard.join("").includes("hunter2"));
  });

  it("are killed at their time-out or output limit, and report it", async () => {
    const slow = await callOn(runner({ timeoutMs: 5 }), { stdout: ["so far"], isEndless: true });
    assert.deepEqual(slow.result.raw, { code: null, out: "so far", err: "", limit: "wall clock" });
    const loud = await callOn(runner({ maxOutputBytes: 3 }), { stdout: ["12", "34"], isEndless: true });
    assert.deepEqual(loud.result.raw, { code: null, out: "123", err: "", limit: "output" });
    assert.ok(loud.programs.kills > 0);
  });

  it("have ended before an interrupted call responds, and their output is shown and kept", async () => {
    const tool = runner({}, { bounds: { timeoutMs: 20, maxOutputBytes: 100 } });
    const { result, programs, kernel, session } = await callOn(tool, { stdout: ["before the end"], isEndless: true });
    const error = errorOf(result);
    assert.equal(error.errorCode, "TIMEOUT");
    assert.ok(programs.kills > 0);
    assert.equal(error.view, "before the end");
    const { chunks } = await kernel.getContent(session.id, blake3(utf8("before the end")), 0, 0);
    assert.equal(Buffer.concat(await Array.fromAsync(chunks)).toString(), "before the end");
  });

  it("that use up the budget of stored bytes are killed, and the call fails", async () => {
    const { result, programs } = await callOn(
      runner(),
      { stdout: ["x".repeat(500)], isEndless: true },
      { budget: 100 },
    );
    assert.equal(errorOf(result).errorCode, "RESOURCE_EXCEEDED");
    assert.ok(programs.kills > 0);
  });

  it("fail the call by name when they change a protected path", async () => {
    const { result } = await callOn(runner(), { stdout: ["x"], end: { putBack: [".git/hooks"] } });
    const error = errorOf(result);
    assert.equal(error.errorCode, "UNDECLARED_EFFECT");
    assert.match(error.message, /`\.git\/hooks`/);
  });

  it("get no more access than their call's effects", async () => {
    const placeFor = async (effects: Effect[], request: Partial<ProgramRequest> = {}) => {
      const { programs } = await callOn(runner(request, {}, effects), {});
      const [place] = programs.places;
      return [place?.access, place?.mayFork];
    };
    assert.deepEqual(await placeFor([]), ["none", false]);
    assert.deepEqual(await placeFor(["fs_read"]), ["read", false]);
    assert.deepEqual(await placeFor(["fs_read", "fs_write", "process_spawn"]), ["write", true]);
    assert.deepEqual(await placeFor(["fs_write"], { access: "read" }), ["read", false]);
  });

  it("receive their input, then its end", async () => {
    const { programs } = await callOn(runner({ input: Buffer.from("text") }), {});
    assert.deepEqual(programs.received, ["text", "end"]);
  });

  it("run only for tools of the right class, and only where a sandbox is available", async () => {
    const inline = await callOn(runner({}, { isolation: "inline" }), {});
    assert.equal(errorOf(inline.result).errorCode, "UNDECLARED_EFFECT");
    assert.equal(inline.programs.places.length, 0);
    const { open } = await createTestKernel({ tools: [runner()] });
    assert.equal(errorOf(await (await open()).call("runner", {})).errorCode, "SANDBOX_UNAVAILABLE");
  });

  it("cannot change protected paths unless a rule permits it without asking", async () => {
    const second = { id: "protected", action: "write_protected" };
    const keeps = async (...rules: TestRule[]) => {
      const programs = scriptPrograms({});
      const tools = [runner()];
      const policy = createTestPolicy([{ id: "runner", action: "runner" }, ...rules], tools);
      const { open } = await createTestKernel({ tools, programs, policy });
      await (await open()).call("runner", {});
      return programs.places[0]?.keepsProtected;
    };
    assert.equal(await keeps(), true);
    assert.equal(await keeps({ ...second, approve: "human" }), true);
    assert.equal(await keeps(second), false);
  });
});
