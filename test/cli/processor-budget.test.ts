import assert from "node:assert/strict";
import { chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createHostedHome, objectOf } from "./home.ts";

const RULE = '@id("shell") @approve("none") permit(principal, action == Action::"shell_exec", resource);';

test("a busy loop ends at its budget of processor time, the next call is denied, and the remainder is shown", async (context) => {
  const at = await createHostedHome();
  context.after(() => at.remove());
  await at.ask(["init"]);
  await mkdir(join(at.home, "policy"), { recursive: true });
  await writeFile(join(at.home, "policy", "shell.cedar"), RULE);
  // Programs never run as root.
  if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
  const serving = await at.serve();
  const lease = join(at.root, "lease.json");
  await writeFile(lease, JSON.stringify({ budgets: { cpu_ms: 1500 } }));
  const { id } = await at.openSession("--lease", lease);
  const call = (command: string) => ["call", "shell_exec", JSON.stringify({ command }), "--session", id];
  const left = async () => objectOf((await at.ask(["session", "show", id]))["budget_remaining"]);

  assert.deepEqual(await left(), { cpu_ms: 1500 });
  await at.ask(call("true"));
  const rest = Number((await left())["cpu_ms"]);
  assert.ok(rest < 1500 && rest > 1000, `${rest} ms`);
  const ended = await at.run(call("while :; do :; done"));
  assert.match(ended.stderr + ended.stdout, /RESOURCE_EXCEEDED/);
  assert.match(ended.stderr + ended.stdout, new RegExp(`cpu: at most ${rest} ms, and it came to \\d+ ms`));
  assert.deepEqual(await left(), { cpu_ms: 0 });
  const denied = await at.run(call("true"));
  assert.match(denied.stderr + denied.stdout, /cpu_ms has 0 left.*BUDGET_EXCEEDED/s);
  assert.match((await at.run(["session", "show", id])).stdout, /"cpu_ms":0/);
  assert.equal(await serving.stop(), 0);
});
