import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, defineTool, Type } from "narthex";

const shout = defineTool({
  name: "shout",
  description: "Says a text louder.",
  inputSchema: Type.Object({ text: Type.String({ maxLength: 100 }) }),
  tier: "read_only",
  determinism: "pure",
  run: ({ text }) => ({ louder: text.toUpperCase() }), // text: string
});
const here = await mkdtemp(join(tmpdir(), "narthex-"));
const policies = [{ name: "shout.cedar", text: '@id("may-shout") permit(principal, action == Action::"shout", resource);' }];
const kernel = await createKernel({ data: join(here, "home"), tools: [shout], policies });
const session = await kernel.session({ workspace: await mkdtemp(join(here, "workspace-")) });

const said = await session.call("shout", { text: "hello" });
assert.deepEqual(said.raw, { louder: "HELLO" }); // also: said.hash, said.proof, said.sideEffects, said.metadata
const wrong = await session.call("shout", { txt: 1 });
assert.equal(wrong.status, "error"); // INVALID_INPUT, every problem at once; recorded like everything else
await kernel.close();
