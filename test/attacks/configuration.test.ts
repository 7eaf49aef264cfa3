import assert from "node:assert/strict";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createHostedHome, objectOf, textOf } from "../cli/home.ts";

const at = await createHostedHome();
after(() => at.remove());
await mkdir(at.home, { mode: 0o700 });

/** What every command and a kernel that is to start say to a configuration: it must not be taken. */
async function refusal(text: string): Promise<string> {
  await writeFile(join(at.home, "narthex.yaml"), text, { mode: 0o600 });
  const said = new Set<string>();
  for (const command of [
    ["serve", "--listen", "127.0.0.1:0"],
    ["session", "open", "--workspace", at.workspace],
    ["tools", "list"],
  ]) {
    const { code, message } = objectOf((await at.ask(command, 4))["error"]);
    assert.equal(code, "CONFIG_INVALID", text);
    said.add(textOf(message));
  }
  // Nothing was begun: there are no records, and no door is open.
  assert.deepEqual(await readdir(join(at.home, "store")), []);
  assert.deepEqual(
    (await readdir(join(at.home, "run"))).filter((name) => name.endsWith(".sock")),
    [],
  );
  const [message = "", ...others] = said;
  assert.deepEqual(others, []);
  return message;
}

describe("a configuration", { timeout: 60_000 }, () => {
  it("with an unknown key is rejected, and the intended key is suggested", async () => {
    for (const [text, meant] of [
      ["timeouts: { aproval_ms: 1 }", "timeouts.approval_ms"],
      ["Listen: 127.0.0.1:0", "listen"],
      ["session: { quarantine: { violation: 1 } }", "session.quarantine.violations"],
    ] as const) {
      assert.match(await refusal(`${text}\n`), new RegExp(`the nearest known key is \`${meant}\``));
    }
    for (const key of ["__proto__", "constructor", '"<<"'])
      assert.match(await refusal(`${key}: { view_bytes: 64 }\n`), /unknown key/);
  });

  it("with two servers of one name, or a repeated key, is rejected with the line of the second", async () => {
    const servers = "mcp_servers:\n  notes: { command: [a] }\n  notes: { command: [b] }\n";
    assert.match(await refusal(servers), /line 3: `mcp_servers\.notes` is given twice/);
    assert.match(await refusal("view_bytes: 64\nview_bytes: 128\n"), /line 2: `view_bytes` is given twice/);
  });
});
