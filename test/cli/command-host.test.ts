import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createHostedHome, type TestHome } from "./home.ts";

describe("a command in a process that ran other commands", { timeout: 60_000 }, () => {
  let at: TestHome;
  let session: { readonly id: string; readonly token: string };
  before(async () => {
    at = await createHostedHome();
    session = await at.openSession();
  });
  after(() => at.remove());

  const cases: readonly (readonly [what: string, args: readonly string[], code: number])[] = [
    ["answers", ["call", "echo", "-", "--request-id", "one"], 0],
    ["refuses", ["call", "echo", "-", "--request-id", "one", "--session", "ses_aaaaaaaaaaaaaaaaaaaa"], 3],
    ["asks for words", ["lease", "show", "--nonsense"], 2],
    ["helps", ["session", "open", "--help"], 0],
    ["finds nothing", ["ledger", "show", "999"], 1],
  ];
  for (const [what, args, code] of cases) {
    it(`${what} as in a process of its own`, async () => {
      const options = { stdin: '{"é":"1"}', env: { NARTHEX_TOKEN: session.token } };
      const alone = await at.run(args, { ...options, ownProcess: true });
      assert.deepEqual(await at.run(args, options), alone);
      assert.equal(alone.code, code, alone.stderr);
    });
  }

  it("sees nothing of another command's environment", async () => {
    await at.ask(["call", "echo", "1"], 0, { env: { NARTHEX_TOKEN: session.token } });
    assert.equal((await at.run(["call", "echo", "1"])).code, 2);
  });
});
