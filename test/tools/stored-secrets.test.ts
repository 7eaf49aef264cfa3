import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, describe, it } from "node:test";
import {
  blake3,
  ContentRole,
  fromBinary,
  type JsonObject,
  type JsonValue,
  RecordContentSchema,
  toHex,
} from "@narthex/contracts";
import { verifyLedger } from "@narthex/verify";
import type { CallResult, KernelSession, NarthexKernel } from "narthex";
import { findLeft } from "../erasure/left-bytes.ts";
import {
  createSecretHome,
  exported,
  formsOf,
  ODD_TOKEN,
  readWorkspace,
  type SecretHome,
  SITE_TOKEN,
  TOOL_TOKEN,
  VAULT_LINE,
} from "./secret-kernel.ts";
import { endOf } from "./vault-kernel.ts";

const CONFIGURED = {
  ...formsOf("site_token", SITE_TOKEN),
  ...formsOf("tool_token", TOOL_TOKEN),
  ...formsOf("odd_token", ODD_TOKEN),
};
const OF_THE_VAULT = formsOf("vault", VAULT_LINE);
/** One digit is another. */
const WRONG = "newAAbbccddeeffZZZ98tok";

async function assertStoredNowhere(at: SecretHome, needles: Record<string, string>): Promise<void> {
  assert.deepEqual(await findLeft(at.home, needles), []);
}

async function assertNotIn(bytes: Buffer, needles: Record<string, string>): Promise<void> {
  for (const [name, needle] of Object.entries(needles)) assert.equal(bytes.indexOf(needle), -1, name);
}

describe("secrets in stored data", { timeout: 120_000 }, () => {
  let at: SecretHome;
  let kernel: NarthexKernel;
  let session: KernelSession;
  before(async () => {
    at = await createSecretHome();
    kernel = await at.open();
    session = await at.session(kernel);
  });
  after(async () => {
    await kernel.close({ graceMs: 0 });
    await at[Symbol.asyncDispose]();
  });

  const asked = async (tool: string, input: JsonValue, options = {}): Promise<CallResult> =>
    await session.call(tool, input, options);

  it("the tool gets the original, the caller its own text back, and the record neither", async () => {
    const echoed = await asked("echo", { text: SITE_TOKEN, [TOOL_TOKEN]: 1 });
    assert.deepEqual(echoed.raw, { text: SITE_TOKEN, [TOOL_TOKEN]: 1 });
    assert.deepEqual(endOf(await asked("file_write", { path: "w.txt", content: `a ${SITE_TOKEN} b` })).code, "success");
    assert.equal(await readWorkspace(at, "w.txt"), `a ${SITE_TOKEN} b`);
    const found = await kernel.findCall(session.id, echoed.requestId);
    const input = fromBinary(RecordContentSchema, found?.content ?? new Uint8Array(0)).items.find(
      ({ role }) => role === ContentRole.INPUT,
    );
    const recorded = Buffer.from(input?.data ?? []).toString();
    assert.match(recorded, /^\{"\[secret tool_token #[0-9a-f]{8}\]":1,"text":"\[secret site_token #[0-9a-f]{8}\]"\}$/);
    await assertStoredNowhere(at, CONFIGURED);
  });

  it("no configured secret is in the home or in a bundle, whichever way it came", async () => {
    await at.put("leak.txt", `x ${SITE_TOKEN} y\n${Buffer.from(TOOL_TOKEN).toString("base64")}\n`);
    await at.put("old.txt", `token: ${SITE_TOKEN}\n`);
    const reader = await at.session(kernel);
    for (const tool of ["file_read", "read_file"]) {
      const { view } = resultOf(await reader.call(tool, { path: "leak.txt" }));
      assert.match(view, /x \[secret site_token\] y/);
      assert.match(view, /\[secret tool_token\]/);
    }
    const asHex = Buffer.from(SITE_TOKEN).toString("hex");
    const asBase64 = Buffer.from(`user:${TOOL_TOKEN}`).toString("base64");
    const calls: readonly (readonly [tool: string, input: JsonValue])[] = [
      ["shell_exec", { command: `echo ${SITE_TOKEN}; echo ${SITE_TOKEN} >&2; cat leak.txt` }],
      ["shell_exec", { command: `echo ${asBase64} | base64 -d; yes ${SITE_TOKEN} | head -c 200000` }],
      ["shell_exec", { command: "cat", stdin: ODD_TOKEN, env: { TOKEN: TOOL_TOKEN } }],
      ["shell_exec", { command: `exit 3 # ${encodeURIComponent(TOOL_TOKEN)}` }],
      ["file_write", { path: `${SITE_TOKEN}.txt`, content: asHex }],
      ["file_edit", { path: "old.txt", old_content: SITE_TOKEN, new_content: "nothing" }],
      ["file_write", { path: "leak.txt", content: "replaced" }],
      ["file_search", { pattern: SITE_TOKEN }],
      ["file_list", { path: "." }],
      ["file_read", { path: `nowhere/${SITE_TOKEN}` }],
      ["file_delete", { path: `${SITE_TOKEN}.txt` }],
      ["file_read", { path: "w.txt", offset: SITE_TOKEN }],
      [`no_${SITE_TOKEN}`, {}],
      ["git", { operation: "LOG", args: [`--author=${SITE_TOKEN}`] }],
      ["http_fetch", { url: `https://${SITE_TOKEN.toLowerCase()}.example/` }],
    ];
    for (const [tool, input] of calls) {
      await asked(tool, input);
    }
    await asked("echo", 1, { requestId: `id-${SITE_TOKEN}`, dedupeKey: `key-${SITE_TOKEN}` });
    for (const size of [0, 100_000]) {
      const put = await kernel.putContent({
        sessionId: session.id,
        door: "test",
        labels: [],
        chunks: pieces(`${SITE_TOKEN}${"z".repeat(size)}`),
      });
      const hash = toHex(put.hash);
      assert.equal(hash, toHex(blake3(Buffer.from(`${SITE_TOKEN}${"z".repeat(size)}`))));
      const read = resultOf(await asked("result_read", { hash, limit: 40 }));
      assert.ok(Buffer.from(read.inlineResult).toString().startsWith(SITE_TOKEN));
      const artifact = { artifact_id: `a${size} ${SITE_TOKEN}`, content_hash: hash, category: "c" };
      assert.equal(endOf(await asked("artifact_publish", artifact)).code, "success");
      assert.equal(endOf(await asked("artifact_get", { artifact_id: artifact.artifact_id })).code, "success");
    }
    await assertStoredNowhere(at, CONFIGURED);
    await assertNotIn(await exported(kernel), CONFIGURED);
    assert.deepEqual((await verifyLedger(kernel.ledgerSource())).problems, []);
  });

  it("a file's earlier content can be restored while the kernel runs", async () => {
    await at.put("undone.txt", `token: ${SITE_TOKEN}\n`);
    const undoing = await at.session(kernel);
    assert.equal(endOf(await undoing.call("file_write", { path: "undone.txt", content: "new" })).code, "success");
    await kernel.undo({ sessionId: undoing.id, by: "ann", dryRun: false });
    assert.equal(await readWorkspace(at, "undone.txt"), `token: ${SITE_TOKEN}\n`);
    await assertStoredNowhere(at, CONFIGURED);
  });

  it("a right guess gets the same response as a wrong one, also when repeated or read back", async () => {
    const answersTo = async (guess: string): Promise<string[]> => {
      const fresh = await at.session(kernel);
      const told: string[] = [];
      const tell = (result: CallResult): void => {
        const { case: kind, value } = result.response.result;
        const text = kind === "success" ? value.view : kind === undefined ? "" : value.message;
        const hash = kind === "success" && value.inlineResult.length > 0 ? toHex(value.resultHash) : "";
        const own = kind === "success" ? toHex(blake3(value.inlineResult)) : "";
        const alike = text
          .replaceAll(guess, "GUESS")
          .replaceAll(/[0-9a-f]{64}/g, "HASH")
          .replaceAll("ZZZ98", "ZZZ99");
        told.push(`${kind} ${alike} ${hash === "" || hash === own}`);
      };
      const literal = "[secret site_token]";
      tell(await fresh.call("echo", guess, { requestId: "one" }));
      tell(await fresh.call("echo", guess, { requestId: "one" }));
      tell(await fresh.call("echo", literal, { requestId: "one" }));
      tell(await fresh.call("echo", literal, { requestId: "two", dedupeKey: "k" }));
      tell(await fresh.call("echo", guess, { requestId: "three", dedupeKey: "k" }));
      const printed = await fresh.call("shell_exec", {
        command: `echo ${guess} | rev | rev; yes ${guess} | head -c 90000`,
      });
      tell(printed);
      const { stdout } = objectOf(printed.raw);
      const { hash, size } = objectOf(stdout);
      const whole = Buffer.from(`${guess}\n`.repeat(Number(size) / (guess.length + 1) + 1)).subarray(0, Number(size));
      assert.equal(hash, toHex(blake3(whole)));
      tell(await fresh.call("result_read", { hash, offset: 80_000, limit: 100 }));
      tell(await fresh.call("file_write", { path: "guess.txt", content: guess }));
      tell(await fresh.call("file_read", { path: "guess.txt" }));
      tell(await fresh.call("file_search", { pattern: "newAA", path: "guess.txt" }));
      tell(await fresh.call("file_delete", { path: "guess.txt" }));
      tell(await fresh.call("file_read", { path: `absent-${guess}` }));
      tell(await fresh.call("file_read", { path: guess, offset: -1 }));
      const proofs = await Promise.all(
        [guess, literal].map(async (text) => resultOf(await fresh.call("echo", text)).proofHash),
      );
      assert.notDeepEqual(proofs[0], proofs[1]);
      return told;
    };
    const [right, wrong] = [await answersTo(SITE_TOKEN), await answersTo(WRONG)];
    assert.deepEqual(right, wrong);
    assert.ok(right.every((line) => line.endsWith("true")));
  });

  it("facts for policy have the structure of the input, and none of its secrets", async () => {
    const { requestId } = await asked("shell_exec", { command: `echo ${ODD_TOKEN}` });
    assert.equal(await readWorkspace(at, "owned-by-secret"), "");
    const records = await kernel.listRecords({ chain: session.id, limit: 1000, newest: true });
    const questions = records
      .flatMap(({ content }) => fromBinary(RecordContentSchema, content).items)
      .filter(({ role }) => role === ContentRole.POLICY_REQUEST)
      .map(({ data }) => Buffer.from(data).toString())
      .filter((text) => text.includes("odd_token"));
    assert.match(questions.at(-1) ?? requestId, /"heads":\["echo","touch"\]/);
  });

  it("every decision is reproduced, and replay says which calls are redacted", async () => {
    const events = await Array.fromAsync(
      kernel.replay(
        { sessionIds: [session.id], skipVerify: false, digestOnly: false, listCalls: false },
        new AbortController().signal,
      ),
    );
    const text = JSON.stringify(events, (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value));
    assert.match(text, /"redacted"/);
    assert.match(text, /"clean":true/);
  });

  it("an approval shows the secret's name, and applies to this exact input only", async () => {
    const shown: string[] = [];
    await kernel.close({ graceMs: 0 });
    kernel = await at.open({
      policies: [{ name: "ask.cedar", text: '@id("ask") @approve("human") permit(principal, action, resource);' }],
      approver: {
        door: "test",
        ask(question) {
          shown.push(JSON.stringify(question, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value)));
          return Promise.resolve({ approved: shown.length === 1, approver: "ann" });
        },
      },
    });
    const asking = await at.session(kernel);
    const once = await asking.call("shell_exec", { command: `sh -c 'echo ${SITE_TOKEN}'` });
    assert.match(resultOf(once).view, new RegExp(SITE_TOKEN));
    const { code } = endOf(await asking.call("shell_exec", { command: "sh -c 'echo [secret site_token]'" }));
    assert.equal(code, "APPROVAL_DENIED");
    assert.match(shown[0] ?? "", /echo \[secret site_token #[0-9a-f]{8}\]/);
    for (const needle of Object.values(CONFIGURED)) assert.ok(!shown.some((text) => text.includes(needle)));
    await assertStoredNowhere(at, CONFIGURED);
  });
});

describe("a killed kernel", { timeout: 60_000 }, () => {
  it("leaves no secret of an interrupted call, and asks a person about its outcome", async () => {
    await using at = await createSecretHome();
    const script = new URL("./crashing-secret-kernel.ts", import.meta.url).pathname;
    const rule = '@id("test-all") @approve("none") permit(principal, action, resource);';
    const input = { path: "w.txt", content: SITE_TOKEN };
    const crashed = spawnSync(process.execPath, [script, at.home, at.workspace, rule], {
      input: JSON.stringify(input),
    });
    assert.equal(crashed.signal, "SIGKILL", crashed.stderr.toString());
    await assertStoredNowhere(at, CONFIGURED);
    const kernel = await at.open();
    try {
      assert.equal((await kernel.listIntents()).length, 1);
      const session = await kernel.resumeSession(crashed.stdout.toString().trim());
      for (const requestId of ["lost", "another"]) {
        assert.equal(endOf(await session.call("file_write", input, { requestId })).code, "OUTCOME_UNKNOWN");
      }
      await assertStoredNowhere(at, CONFIGURED);
    } finally {
      await kernel.close({ graceMs: 0 });
    }
  });
});

describe("content of the vault", { timeout: 60_000 }, () => {
  it("is returned to a session that reads its file, and stored by its hash only", async () => {
    await using at = await createSecretHome();
    let kernel = await at.open();
    try {
      let session = await at.session(kernel);
      assert.equal(
        endOf(await session.call("vault_copyto", { source: "key", destination: "conf/key" })).code,
        "success",
      );
      assert.equal(
        endOf(await session.call("vault_copyto", { source: "large", destination: "large" })).code,
        "success",
      );
      const reads = async (): Promise<void> => {
        for (const [tool, input] of [
          ["file_read", { path: "conf/key" }],
          ["read_file", { path: "conf/key" }],
          ["file_read", { path: "large" }],
          ["file_search", { pattern: "PASSWORD" }],
          ["shell_exec", { command: "cat conf/key; base64 conf/key" }],
        ] as const) {
          const { view } = resultOf(await session.call(tool, input, { requestId: `${tool} ${JSON.stringify(input)}` }));
          assert.ok(view.includes(VAULT_LINE), tool);
        }
      };
      await reads();
      const { resultHash } = resultOf(await session.call("file_read", { path: "large" }));
      const part = await session.call("result_read", { hash: toHex(resultHash), offset: 0, limit: 24 });
      assert.equal(Buffer.from(resultOf(part).inlineResult).toString(), VAULT_LINE);
      await session.call("file_edit", { path: "conf/key", old_content: VAULT_LINE, new_content: `${VAULT_LINE}!` });
      await session.call("file_move", { source: "conf/key", destination: "moved" });
      assert.ok(resultOf(await session.call("file_read", { path: "moved" })).view.includes(VAULT_LINE));
      await session.call("file_write", { path: "moved", content: "gone" });
      await session.call("file_delete", { path: "large" });
      await kernel.undo({ sessionId: session.id, by: "ann", dryRun: false });
      await session.call("vault_copyto", { source: "key", destination: "conf/key" });
      await session.call("vault_copyto", { source: "large", destination: "large" });
      await assertStoredNowhere(at, OF_THE_VAULT);
      await assertNotIn(await exported(kernel), OF_THE_VAULT);
      assert.deepEqual((await verifyLedger(kernel.ledgerSource())).problems, []);
      const { token } = session;
      await kernel.close({ graceMs: 0 });
      kernel = await at.open();
      session = await kernel.resumeSession(token);
      const { code, text } = endOf(
        await session.call("file_read", { path: "conf/key" }, { requestId: 'file_read {"path":"conf/key"}' }),
      );
      assert.deepEqual([code, /stored by its hash only/.test(text)], ["CONTENT_NOT_FOUND", true]);
      session = await at.session(kernel);
      await reads();
      await assertStoredNowhere(at, OF_THE_VAULT);
    } finally {
      await kernel.close({ graceMs: 0 });
    }
  });
});

function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? { ...value } : assert.fail("no object");
}

function resultOf(result: CallResult) {
  const { result: end } = result.response;
  return end.case === "success" ? end.value : assert.fail(JSON.stringify(endOf(result)));
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  // The secret is cut in two.
  yield bytes.subarray(0, 10);
  yield bytes.subarray(10);
}
