import assert from "node:assert/strict";
import { test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, type ToolInfo, ToolInfoSchema } from "@narthex/contracts";
import { createToolList } from "./tool-list.ts";

function info(name: string, fields: Exclude<MessageInitShape<typeof ToolInfoSchema>, ToolInfo> = {}): ToolInfo {
  return create(ToolInfoSchema, {
    name,
    inputSchema: `{"type":"object"}`,
    definitionHash: Buffer.from(name.padEnd(32)),
    state: "ready",
    safetyTier: "side_effecting",
    determinism: "nondeterministic",
    ...fields,
  });
}

test("tools that could not run are not listed, and neither are those MCP cannot call", async () => {
  const infos = [
    info("ready"),
    info("degraded", { state: "degraded" }),
    info("disabled", { state: "disabled" }),
    info("quarantined", { state: "quarantined" }),
    info("array", { inputSchema: `{"type":"array"}` }),
  ];
  const tools = await createToolList({ listTools: async () => infos }).refresh();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["ready", "degraded"],
  );
});

test("a definition is read once, and again when it changed", async () => {
  let infos = [info("a"), info("b")];
  const list = createToolList({ listTools: async () => infos });
  const [a] = await list.refresh();
  infos = [info("a"), info("b", { definitionHash: Buffer.alloc(32, 1), description: "another" })];
  const [sameA, otherB] = await list.refresh();
  assert.equal(sameA, a);
  assert.equal(otherB?.description, "another");
});

test("hints follow from tier and effects, never from what a tool says of itself", async () => {
  const infos = [
    info("reads", { safetyTier: "read_only", effects: ["fs_read"] }),
    info("writes", { effects: ["fs_write"] }),
    info("publishes", { effects: ["artifact"] }),
    info("fetches", { effects: ["net_read"] }),
    info("pushes", { safetyTier: "privileged", effects: ["net_write"] }),
  ];
  const tools = await createToolList({ listTools: async () => infos }).refresh();
  const hints = tools.map(({ annotations: said }) =>
    [said?.readOnlyHint, said?.destructiveHint, said?.idempotentHint, said?.openWorldHint].map(Number).join(""),
  );
  assert.deepEqual(hints, ["1010", "0100", "0000", "0001", "0101"]);
});

test("structure is promised for object results with a schema alone", async () => {
  const infos = [
    info("promises", { resultType: "object", outputSchema: `{"type":"object"}` }),
    info("silent", { resultType: "object" }),
    info("lists", { resultType: "array", outputSchema: `{"type":"array"}` }),
  ];
  const list = createToolList({ listTools: async () => infos });
  // Asked for at first, known from then on.
  const asked = infos.map(async ({ name }) => await list.isStructured(name));
  assert.deepEqual(await Promise.all(asked), [true, false, false]);
  assert.deepEqual(
    infos.map(({ name }) => list.isStructured(name)),
    [true, false, false],
  );
});

test("a list has changed once for each change, and not for a client that never asked for it", async () => {
  let infos = [info("a"), info("b")];
  const list = createToolList({ listTools: async () => infos });
  assert.equal(await list.hasChanged(), false);
  await list.refresh();
  assert.equal(await list.hasChanged(), false);
  infos = [info("a"), info("b", { state: "quarantined" })];
  assert.deepEqual([await list.hasChanged(), await list.hasChanged()], [true, false]);
  infos = [info("a", { definitionHash: Buffer.alloc(32, 1) })];
  assert.equal(await list.hasChanged(), true);
});
