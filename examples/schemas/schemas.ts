/** A tool with a schema of zod. Run it with `npm run example -- schemas`. */
import assert from "node:assert/strict";
import { mkdtempSync as makeDirectory } from "node:fs";
import { createKernel, defineTool } from "narthex";
import { z } from "zod";

const addTask = defineTool({
  name: "add_task",
  description: "Adds a task.",
  inputSchema: z.object({
    title: z.string().min(1).describe("What is to be done"),
    due: z.iso.date().transform((day) => new Date(day)),
    tags: z.array(z.string()).default([]),
  }),
  outputSchema: z.object({ id: z.int(), weekday: z.int() }),
  tier: "read_only",
  // `due` is a Date here, and `tags` is always there.
  run: ({ due, tags }) => ({ id: tags.length + 1, weekday: due.getUTCDay() }),
});
const kernel = await createKernel({ data: makeDirectory("/tmp/narthex-home-"), tools: [addTask] });
const session = await kernel.session({ workspace: makeDirectory("/tmp/workspace-") });

// Callers send JSON: the day as a text.
const added = await session.call("add_task", { title: "Ship it", due: "2026-03-05" });
assert.ok(added.status === "success");
console.log(`task ${added.value.id}, weekday ${added.value.weekday}`);
const wrong = await session.callTool("add_task", { title: "", due: "2026-03-05" });
console.log(`${wrong.code}: ${wrong.message}`);
assert.equal(wrong.code, "INVALID_INPUT");
await kernel.close();
