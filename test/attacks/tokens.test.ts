import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createTestHome, type Serving, type TestHome } from "../cli/home.ts";

const SCOPES = ["admin", "approve", "read"];

/** Every file below, by its path there. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

describe("tokens", { timeout: 60_000 }, () => {
  let at: TestHome;
  let serving: Serving;
  before(async () => {
    at = await createTestHome();
    serving = await at.serve();
  });
  after(() => at.remove());

  it("are stored as hashes: a copy of a home, its ledger and its log opens no session", async () => {
    const { id, token } = await at.openSession();
    await at.ask(["call", "echo", '{"a":1}', "--session", id]);
    await at.run(["call", "echo", "{}"], { env: { NARTHEX_TOKEN: `${token}x` } });
    const run = join(at.home, "run");
    const bearer = await Promise.all(
      SCOPES.map(async (scope) => (await readFile(join(run, `${scope}.token`), "utf8")).trim()),
    );
    const check = async (): Promise<void> => {
      for (const file of await filesBelow(at.home)) {
        const isOwnCopy = SCOPES.some((scope) => basename(file) === `${scope}.token`);
        if (isOwnCopy) assert.equal((await stat(file)).mode & 0o777, 0o600, file);
        const bytes = await readFile(file, "latin1");
        for (const secret of isOwnCopy ? [token] : [token, ...bearer]) {
          assert.ok(!bytes.includes(secret), `${file} holds a token`);
        }
      }
    };
    await check();
    assert.equal(await serving.stop(), 0);
    await check();
  });
});
