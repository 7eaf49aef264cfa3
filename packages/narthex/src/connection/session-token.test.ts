import assert from "node:assert/strict";
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createTerminal } from "../terminal/terminal.ts";
import { findNamedToken, findToken, deleteToken, storeToken } from "./session-token.ts";

const ID = "ses_abcdefghij234567abcd";
const TOKEN = `ntx_${ID}_${"A".repeat(43)}`;

describe("the token a command acts with", () => {
  let root: string;
  let environment: NodeJS.ProcessEnv;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-token-"));
    environment = { XDG_STATE_HOME: join(root, "state") };
  });
  after(() => rm(root, { recursive: true }));

  const ask = (session: string | undefined, more: NodeJS.ProcessEnv = {}) => ({
    options: { text: (name: string) => (name === "session" ? session : undefined) },
    environment: { ...environment, ...more },
    home: join(root, "home"),
    signal: new AbortController().signal,
    terminal: createTerminal({ output: process.stdout, error: process.stderr, environment: {} }, { json: false }),
  });

  it("is never taken from an argument", async () => {
    await assert.rejects(findToken(ask(TOKEN)), (error: Error) => !error.message.includes("AAAA"));
  });

  it("is not read from outside the directory of tokens", async () => {
    for (const id of ["../../secret", "ses_../x", "", "ses_ABCDEFGHIJ234567ABCD", `${ID}/..`]) {
      await assert.rejects(findNamedToken(ask(id)), { code: "USAGE" }, id);
    }
  });

  it("is reported by name as missing if this user opened no such session", async () => {
    await assert.rejects(findNamedToken(ask("ses_aaaaaaaaaaaaaaaaaaaa")), { code: "SESSION_UNKNOWN" });
  });

  it("is not guessed from a file with more than one", async () => {
    const path = join(root, "two");
    await writeFile(path, `${TOKEN}\n${TOKEN}\n`);
    await assert.rejects(findNamedToken(ask(`@${path}`)), { code: "USAGE" });
    await assert.rejects(findNamedToken(ask(`@${join(root, "none")}`)), { code: "USAGE" });
  });

  it("comes from the opener's file, a named file or the environment, in this order", async () => {
    const path = join(root, "one");
    await writeFile(path, `${TOKEN}\n`);
    const file = await storeToken(ID, TOKEN, environment);
    assert.equal(await findToken(ask(ID, { NARTHEX_TOKEN: "other" })), TOKEN);
    assert.equal(await findToken(ask(`@${path}`)), TOKEN);
    assert.equal(await findToken(ask(undefined, { NARTHEX_TOKEN: "other" })), "other");
    await deleteToken(ID, environment);
    await assert.rejects(access(file), { code: "ENOENT" });
  });

  it("is that of the kernel's first session by default", async () => {
    await assert.rejects(findToken(ask(undefined)), { code: "USAGE" });
    await storeToken(ID, TOKEN, environment);
    await mkdir(join(root, "home", "run"), { recursive: true });
    await writeFile(join(root, "home", "run", "first-session"), `${ID}\n`);
    assert.equal(await findToken(ask(undefined)), TOKEN);
    assert.equal(await findNamedToken(ask(undefined)), undefined);
  });
});
