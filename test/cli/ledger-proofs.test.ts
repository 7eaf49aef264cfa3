import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fromBinary, RecordSchema } from "@narthex/contracts";
import { checkCheckpoint, checkConsistency, checkInclusion } from "./independent-proof-check.ts";
import { createHostedHome, objectOf, objectsOf, type TestHome, textOf } from "./home.ts";

const ALONE = { ownProcess: true };

describe("checkpoints and proofs", { timeout: 240_000 }, () => {
  let at: TestHome;
  let session: { readonly id: string; readonly token: string };
  before(async () => {
    at = await createHostedHome();
    session = await at.openSession();
  });
  after(() => at.remove());

  const verifierKey = async (): Promise<string> =>
    (await readFile(join(at.home, "log", "verifier-key"), "utf8")).trimEnd();
  const signedText = (): Promise<string> => readFile(join(at.home, "log", "checkpoint"), "utf8");
  const call = (text: string): Promise<unknown> =>
    at.ask(["call", "echo", JSON.stringify({ text }), "--session", session.id, "--request-id", text]);
  const sign = async () => objectOf((await at.ask(["ledger", "checkpoint"]))["checkpoint"]);
  const recordHashes = async (): Promise<Buffer[]> => {
    const { records } = await at.ask(["ledger", "list", "--from", "0", "--limit", "10000"]);
    return objectsOf(records).map(({ hash }) => Buffer.from(textOf(hash), "hex"));
  };

  it("rejects contradictory arguments, with 2", async () => {
    for (const args of [
      ["ledger", "prove"],
      ["ledger", "prove", "1", "--from", "2"],
      ["ledger", "prove", "--from", "2", "--without-record"],
    ]) {
      const { code, stderr } = await at.run(args);
      assert.equal(code, 2, `${args.join(" ")}: ${stderr}`);
    }
  });

  describe("without a kernel", () => {
    it("signs new records, and without new records prints the newest checkpoint again", async () => {
      await call("one");
      const first = await at.ask(["ledger", "checkpoint"]);
      assert.equal(first["signed"], true);
      const { code, stdout } = await at.run(["ledger", "checkpoint"], ALONE);
      assert.equal(code, 0);
      assert.equal(stdout, objectOf(first["checkpoint"])["note"]);
      assert.equal(stdout, await readFile(join(at.home, "log", "checkpoint"), "utf8"));
      const { origin, size } = checkCheckpoint(stdout, await verifierKey());
      assert.match(origin, /^narthex\/log_[a-z2-7]{20}$/);
      const checkpoint = objectOf(first["checkpoint"]);
      assert.equal(size, checkpoint["tree_size"]);
      const shown = await at.ask(["ledger", "show", String(checkpoint["record_index"])]);
      assert.equal(shown["chain"], "system");
      const recorded = objectOf(objectsOf(shown["entries"])[0]?.["checkpoint_signed"]);
      for (const field of ["tree_size", "root_hash", "key_id"]) assert.equal(recorded[field], checkpoint[field]);
    });

    it("proves a record to a verifier that has only the public key", async () => {
      await call("two");
      // No checkpoint covers it yet: one is signed.
      const { code, stdout, stderr } = await at.run(["ledger", "prove", `${session.id}/two`], ALONE);
      assert.equal(code, 0, stderr);
      const record = fromBinary(RecordSchema, checkInclusion(stdout, await verifierKey()));
      assert.equal(record.requestId, "two");
      const file = join(at.root, "two.tlog-proof");
      await writeFile(file, stdout);
      // Somewhere else, with nothing at hand.
      const elsewhere = { env: { NARTHEX_DATA: join(at.root, "no-home"), HOME: at.root } };
      const checking = ["ledger", "prove", "--check", file, "--key", await verifierKey()];
      const checked = await at.ask(checking, 0, elsewhere);
      assert.deepEqual([checked["holds"], checked["request_id"], checked["chain"]], [true, "two", session.id]);
      await writeFile(file, stdout.replace(/\nindex (\d+)/, "\nindex 1"));
      assert.equal((await at.ask(checking, 20, elsewhere))["holds"], false);
      await writeFile(file, stdout.slice(0, 200));
      await at.ask(checking, 30, elsewhere);
      const flipped = stdout.replace(/\n([A-Za-z])/, (_, letter: string) => `\n${letter === "A" ? "B" : "A"}`);
      await assert.rejects(async () => checkInclusion(flipped, await verifierKey()));
      const without = await at.run(["ledger", "prove", String(record.index), "--without-record"]);
      assert.equal(without.stdout, stdout.replace(/\nextra .*/, ""));
    });

    it("proves that a newer checkpoint extends an older one that was kept", async () => {
      const kept = join(at.root, "kept.note");
      const older = await sign();
      await writeFile(kept, textOf(older["note"]));
      await call("three");
      const newer = await sign();
      const key = await verifierKey();
      const { code, stdout, stderr } = await at.run(["ledger", "prove", "--from", kept], ALONE);
      assert.equal(code, 0, stderr);
      checkConsistency(stdout, key, await recordHashes());
      const [from, to] = [String(older["tree_size"]), String(newer["tree_size"])];
      await at.ask(["ledger", "prove", "0", "--checkpoint", kept]);
      await at.ask(["ledger", "prove", "--from", to, "--to", from], 4);
    });

    it("reports a kept checkpoint of another ledger, with 20", async () => {
      const forged = join(at.root, "forged.note");
      const { note, tree_size: size } = await sign();
      await writeFile(forged, textOf(note).replace(/\n[A-Za-z0-9+/]{4}/, "\nAAAA"));
      const { code, stderr } = await at.run(["ledger", "prove", "--from", forged]);
      assert.ok(code === 20 && stderr.includes("not the one of this ledger"), stderr);
      await writeFile(forged, textOf(note).replaceAll("\n", "\r\n"));
      assert.equal((await at.run(["ledger", "prove", "--from", forged])).code, 4);
      const missing = await at.run(["ledger", "prove", "0", "--checkpoint", String(Number(size) + 1)]);
      assert.match(missing.stderr, /no checkpoint of \d+ records was signed/);
      assert.equal(missing.code, 1);
    });
  });

  it("works the same with a kernel, which also signs its records when it stops", async () => {
    const older = await sign();
    const serving = await at.serve();
    await call("four");
    const proven = await at.run(["ledger", "prove", `${session.id}/four`]);
    checkInclusion(proven.stdout, await verifierKey());
    await call("five");
    const newer = await sign();
    const { proof } = await at.ask(["ledger", "prove", "--from", String(older["tree_size"])]);
    const hashes = await recordHashes();
    checkConsistency(textOf(proof), await verifierKey(), hashes);
    assert.equal(hashes.length, Number(newer["tree_size"]) + 1);
    await call("six");
    assert.equal(await serving.stop(), 0);
    const { size } = checkCheckpoint(await signedText(), await verifierKey());
    assert.equal((await recordHashes()).length, size + 1);
  });

  it("hands over to a new key signed by the old one, and verifies by the kept one, with a kernel", async () => {
    const before = await verifierKey();
    const kept = join(at.root, "before.note");
    await writeFile(kept, await signedText());
    const serving = await at.serve();
    const rotated = await at.ask(["ledger", "rotate-key"], 0, ALONE);
    const key = await verifierKey();
    assert.notEqual(key, before);
    assert.equal(rotated["verifier_key"], key);
    assert.equal(rotated["previous_verifier_key"], before);
    const [text = "", signatures = ""] = textOf(rotated["announcement"]).split("\n\n");
    assert.deepEqual(text.split("\n").slice(0, 3), ["narthex/log-key/v1", before, key]);
    assert.equal(signatures.trimEnd().split("\n").length, 2);
    assert.equal(await readFile(join(at.home, "log", "keys", "001"), "utf8"), rotated["announcement"]);
    const { stdout } = await at.run(["ledger", "prove", "0"]);
    checkInclusion(stdout, key);
    assert.throws(() => checkInclusion(stdout, before));
    const known = ["ledger", "verify", "--key", before, "--checkpoint", kept];
    const report = await at.ask(known);
    const log = objectOf(report["log"]);
    assert.deepEqual([log["key_trusted"], log["verifier_key"], log["kept_checkpoints"]], [true, key, 1]);
    await writeFile(kept, (await readFile(kept, "utf8")).replace(/\n\d+\n/, "\n99999\n"));
    const { problems } = await at.ask(known, 20);
    const codes = objectsOf(problems).map(({ code }) => code);
    assert.ok(codes.includes("log_rolled_back") && codes.includes("log_key_untrusted"), codes.join(" "));
    assert.equal(await serving.stop(), 0);
  });

  it("reports missing signed records, with 20", async () => {
    const published = await signedText();
    await writeFile(join(at.home, "log", "checkpoint"), published.replace(/\n\d+\n/, "\n99999\n"));
    const { code, stderr } = await at.run(["ledger", "checkpoint"]);
    assert.equal(code, 20);
    assert.match(stderr, /a checkpoint of 99999 records was signed/);
    await writeFile(join(at.home, "log", "checkpoint"), published);
  });

  it("reports a missing key, with 5, and still proves what was signed", async () => {
    await rm(join(at.home, "keys", "log-signing-key.pem"));
    const { code, stderr } = await at.run(["ledger", "checkpoint"]);
    assert.equal(code, 5);
    assert.match(stderr, /log-signing-key\.pem`, is missing/);
    await at.ask(["ledger", "prove", "0"]);
  });

  it("starts a new key after a key loss, names the loss, and keeps verifiers of the old key from accepting it", async () => {
    const before = await verifierKey();
    const begun = await at.ask(["ledger", "rotate-key", "--lost"]);
    const key = await verifierKey();
    assert.deepEqual([begun["previous_verifier_key"], begun["verifier_key"]], [before, key]);
    const [, signatures = ""] = textOf(begun["announcement"]).split("\n\n");
    assert.equal(signatures.trimEnd().split("\n").length, 1);
    await call("seven");
    checkCheckpoint(textOf((await sign())["note"]), key);

    const [problem] = objectsOf((await at.ask(["ledger", "verify", "--key", before], 20))["problems"]);
    assert.deepEqual([problem?.["code"], problem?.["record_index"]], ["log_key_lost", begun["record_index"]]);
    const trusting = await at.run(["ledger", "verify", "--key", key]);
    assert.equal(trusting.code, 0, trusting.stdout);
    assert.match(trusting.stdout, /a key was begun at record \d+ that no key before it handed over to/);
    // What is there is not lost.
    const { error } = await at.ask(["ledger", "rotate-key", "--lost"], 4);
    assert.match(textOf(objectOf(error)["message"]), /is there: replace it by `narthex ledger rotate-key`/);
  });
});
