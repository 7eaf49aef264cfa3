import assert from "node:assert/strict";
import { mkdtemp, readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadSessionToken, saveSessionToken } from "./session-tokens.ts";

const ID = "ses_abcdefghijklmnopqrst";

test("an id that is no session id never becomes a file name", async () => {
  const environment = { XDG_STATE_HOME: await mkdtemp(join(tmpdir(), "narthex-state-")) };
  for (const id of ["../../etc/passwd", "", "ses_../x", `${ID}/..`, `${ID}\0`]) {
    await saveSessionToken(id, "secret", environment);
    assert.equal(await loadSessionToken(id, environment), undefined);
  }
  assert.deepEqual(await readdir(environment.XDG_STATE_HOME), []);
});

test("a token is kept where only its owner can read it", async () => {
  const environment = { XDG_STATE_HOME: await mkdtemp(join(tmpdir(), "narthex-state-")) };
  await saveSessionToken(ID, "secret", environment);
  assert.equal(await loadSessionToken(ID, environment), "secret");
  const file = join(environment.XDG_STATE_HOME, "narthex", "sessions", `${ID}.token`);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});
