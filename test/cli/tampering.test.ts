import assert from "node:assert/strict";
import { cp, readFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { blake3, type ContentItem, fromBinary, RecordContentSchema, toBinary } from "@narthex/contracts";
import { createHostedHome, objectsOf, type TestHome } from "./home.ts";
import { signAgain } from "./sign-again.ts";
import {
  countRecords,
  createSignedHome,
  extendHome,
  flipByte,
  keep,
  removeTampered,
  rewriteChain,
  rowsOf,
  type SignedHome,
  tamper,
  updateRow,
} from "./tampered-home.ts";

describe("ledger verify detects tampering", { timeout: 300_000 }, () => {
  let at: TestHome;
  let mine: SignedHome;
  let theirs: SignedHome;
  const tampered: string[] = [];
  before(async () => {
    at = await createHostedHome();
    [mine, theirs] = [await createSignedHome(at.root, "mine"), await createSignedHome(at.root, "theirs")];
  });
  after(async () => {
    await Promise.all(tampered.map(removeTampered));
    await at.remove();
  });

  /** A record in the middle of a session's chain. */
  const middle = (): number => 4;

  async function change(how: (records: DatabaseSync) => void): Promise<string> {
    const home = await tamper(mine.path, how);
    tampered.push(home);
    return home;
  }

  /** Changes what lies beside the record in the middle. */
  const changeContent = (how: (items: ContentItem[]) => void): Promise<string> =>
    change((records) => {
      const stored = records.prepare("SELECT content FROM records WHERE idx = ?").get(middle())?.["content"];
      assert.ok(stored instanceof Uint8Array);
      const content = fromBinary(RecordContentSchema, stored);
      how(content.items);
      updateRow(records, middle(), "content", toBinary(RecordContentSchema, content));
    });

  async function firstBad(home: string, ...options: readonly string[]): Promise<{ code: unknown; index: unknown }> {
    const report = await at.ask(["ledger", "verify", "--data", home, ...options], 20);
    const [problem] = objectsOf(report["problems"]);
    return { code: problem?.["code"], index: problem?.["record_index"] };
  }

  it("a signed ledger is sound, and the report says how much is proven and by which key", async () => {
    const known = ["--key", mine.verifierKey, "--checkpoint", mine.early, "--checkpoint", mine.late];
    const report = await at.ask(["ledger", "verify", "--data", mine.path, ...known]);
    assert.deepEqual([report["intact"], report["complete"]], [true, true]);
    assert.equal(report["unproven_tail"], mine.records - mine.signed);
    const log = objectsOf([report["log"] ?? null])[0] ?? {};
    assert.deepEqual([log["key_trusted"], log["checkpoints"], log["kept_checkpoints"]], [true, 3, 2]);
    assert.equal(log["proven_size"], mine.signed);
    assert.ok(Number(report["proofs"]) >= 7);
    const told = await at.run(["ledger", "verify", "--data", mine.path], { ownProcess: true });
    for (const part of [
      "integrity",
      "completeness",
      "content",
      "commitments",
      "proofs",
      "signatures",
      "not yet signed",
    ]) {
      assert.ok(told.stdout.includes(part), told.stdout);
    }
  });

  it("a flipped bit in a record, its hash or its content is reported at that record", async () => {
    for (const column of ["record", "hash", "content"]) {
      const home = await change((records) => {
        const row = records.prepare(`SELECT ${column} AS bytes FROM records WHERE idx = ?`).get(middle());
        const bytes = row?.["bytes"];
        assert.ok(bytes instanceof Uint8Array);
        updateRow(records, middle(), column, flipByte(bytes, bytes.length - 5));
      });
      assert.equal((await firstBad(home)).index, middle(), column);
    }
  });

  it("a dropped record is reported as the first missing one", async () => {
    const home = await change((records) => records.exec(`DELETE FROM records WHERE idx = ${middle()}`));
    assert.deepEqual(await firstBad(home), { code: "index_gap", index: middle() });
  });

  it("reordered records are reported from the first one", async () => {
    const home = await change((records) => {
      for (const [from, to] of [
        [middle(), -1],
        [middle() + 1, middle()],
        [-1, middle() + 1],
      ]) {
        records.exec(`UPDATE records SET idx = ${to} WHERE idx = ${from}`);
      }
    });
    assert.equal((await firstBad(home)).index, middle());
  });

  it("a repeated record is reported at its second position", async () => {
    const columns = "chain, sequence, request_id, hash, record, content";
    const home = await change((records) =>
      records.exec(
        `INSERT INTO records (idx, ${columns}) SELECT ${mine.records}, ${columns} FROM records WHERE idx = ${middle()}`,
      ),
    );
    assert.deepEqual(await firstBad(home), { code: "column_mismatch", index: mine.records });
  });

  it("a record of another ledger is reported", async () => {
    const home = await change((records) => {
      records.exec(`ATTACH '${join(theirs.path, "store", "records.db")}' AS other`);
      for (const column of ["chain", "sequence", "request_id", "hash", "record", "content"]) {
        records.exec(
          `UPDATE records SET ${column} = (SELECT ${column} FROM other.records WHERE idx = ${middle()}) WHERE idx = ${middle()}`,
        );
      }
    });
    assert.equal((await firstBad(home)).index, middle());
  });

  it("deleted last records are found as far as a checkpoint covers them, and the rest is reported as unproven", async () => {
    const cut = mine.signed - 2;
    const home = await change((records) => records.exec(`DELETE FROM records WHERE idx >= ${cut}`));
    assert.deepEqual(await firstBad(home), { code: "log_rolled_back", index: cut });
    const tail = await change((records) => records.exec(`DELETE FROM records WHERE idx >= ${mine.signed}`));
    const report = await at.ask(["ledger", "verify", "--data", tail]);
    assert.ok(Number(report["unproven_tail"]) > 1);
  });

  it("deleted first records are reported as missing from 0", async () => {
    const home = await change((records) => records.exec("DELETE FROM records WHERE idx < 3"));
    assert.deepEqual(await firstBad(home), { code: "index_gap", index: 0 });
  });

  it("a truncated store file is unreadable, with 30", async () => {
    const home = await change((records) => records.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
    const file = join(home, "store", "records.db");
    await truncate(file, Math.floor((await readFile(file)).length / 2 / 4096) * 4096);
    const { code, stdout } = await at.run(["ledger", "verify", "--json", "--data", home]);
    assert.equal(code, 30, stdout);
  });

  it("a home restored to an earlier state is found by a kept checkpoint", async () => {
    const sound = await at.run(["ledger", "verify", "--data", mine.before]);
    assert.equal(sound.code, 0, sound.stdout);
    const count = await countRecords(mine.before);
    assert.deepEqual(await firstBad(mine.before, "--checkpoint", mine.late), {
      code: "log_rolled_back",
      index: count,
    });
  });

  it("two branches shown to two readers are each found with the other's kept checkpoint", async () => {
    const branch = join(at.root, "branch");
    await cp(mine.before, branch, { recursive: true });
    const note = await keep(at.root, "branch", await extendHome(branch, ["something else"]));
    const early = ["--checkpoint", mine.early];
    const signed = Number((await readFile(mine.early, "utf8")).split("\n")[1]);
    assert.deepEqual(await firstBad(mine.path, ...early, "--checkpoint", note), { code: "log_forked", index: signed });
    const other = await firstBad(branch, ...early, "--checkpoint", mine.late);
    assert.ok(other.code === "log_forked" || other.code === "log_rolled_back", String(other.code));
  });

  it("a ledger that an attacker rebuilt and signed is found by the key and by a checkpoint", async () => {
    const sound = await at.run(["ledger", "verify", "--data", theirs.path]);
    assert.equal(sound.code, 0, sound.stdout);
    assert.equal((await firstBad(theirs.path, "--key", mine.verifierKey)).code, "log_key_untrusted");
    const report = await at.ask(["ledger", "verify", "--data", theirs.path, "--checkpoint", mine.early], 20);
    const codes = objectsOf(report["problems"]).map(({ code }) => code);
    assert.ok(codes.includes("log_forked") && codes.includes("log_key_untrusted"), String(codes));
  });

  it("a ledger signed again in place, from the first record on, is found by the key and by a checkpoint", async () => {
    const home = await change(() => undefined);
    await signAgain(home);
    // It is sound in itself: this is what one has to know a key or a checkpoint for.
    const sound = await at.run(["ledger", "verify", "--data", home]);
    assert.equal(sound.code, 0, sound.stdout);
    assert.equal((await firstBad(home, "--key", mine.verifierKey)).code, "log_key_untrusted");
    const report = await at.ask(["ledger", "verify", "--data", home, "--checkpoint", mine.early], 20);
    const codes = objectsOf(report["problems"]).map(({ code }) => code);
    assert.ok(codes.includes("log_forked") && codes.includes("log_key_untrusted"), String(codes));
  });

  it("a chain rewritten with all of its hashes is found at the changed record", async () => {
    const home = await change((records) => rewriteChain(records, middle()));
    const { code, index } = await firstBad(home);
    assert.deepEqual({ code, index }, { code: "tile_contradicts", index: middle() });
  });

  it("the hashes of two leaves are not accepted as the hash of a record", async () => {
    const home = await change((records) => {
      const [one, two] = rowsOf(records).slice(middle());
      assert.ok(one !== undefined && two !== undefined);
      updateRow(records, middle(), "hash", Buffer.concat([one.hash, two.hash]));
    });
    assert.deepEqual(await firstBad(home), { code: "hash_mismatch", index: middle() });
  });

  it("a hash without a domain is not accepted as a record's, nor one field or kind of content as another", async () => {
    const bare = await change((records) => {
      updateRow(records, middle(), "hash", blake3(rowsOf(records)[middle()]?.record ?? assert.fail()));
    });
    assert.deepEqual(await firstBad(bare), { code: "hash_mismatch", index: middle() });
    const [fields, kinds] = [
      await changeContent(([item = assert.fail()]) => {
        [item.digest, item.nonce] = [item.nonce, item.digest];
      }),
      await changeContent(([one = assert.fail(), two = assert.fail()]) => {
        [one.role, two.role] = [two.role, one.role];
      }),
    ];
    for (const home of [fields, kinds]) assert.equal((await firstBad(home)).index, middle());
  });

  it("an undefined kind of content is named", async () => {
    const home = await changeContent(([item = assert.fail()]) => {
      Object.assign(item, { role: 99 });
    });
    const report = await at.ask(["ledger", "verify", "--data", home], 20);
    const [problem] = objectsOf(report["problems"]);
    assert.equal(problem?.["record_index"], middle());
    assert.match(String(problem["message"]), /role has no value 99/);
  });

  it("an invalid key or checkpoint is rejected before anything is read", async () => {
    assert.equal((await at.run(["ledger", "verify", "--data", mine.path, "--key", "narthex/x+00000000+AAAA"])).code, 4);
    const nothing = await keep(at.root, "nothing", "no note\n");
    assert.equal((await at.run(["ledger", "verify", "--data", mine.path, "--checkpoint", nothing])).code, 4);
    assert.equal((await at.run(["ledger", "verify", "--data", mine.path, "--checkpoint", `${nothing}.not`])).code, 4);
  });
});
