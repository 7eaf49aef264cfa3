import assert from "node:assert/strict";
import { test } from "node:test";
import { parseVerifierKey } from "../index.ts";
import { LedgerBuilder } from "../testing/ledger-builder.ts";
import { rootOf, SignedTree, testKey } from "../testing/signed-tree.ts";
import { checkProofText, ProofFault } from "./check-proof-text.ts";

const KEY = testKey("first");
const NEXT = testKey("second");
const MOST = 17;

/** The checkpoint of every size, and the records. */
function signed(): { readonly ledger: LedgerBuilder; readonly notes: ReadonlyMap<number, string> } {
  const log = new SignedTree(new LedgerBuilder());
  log.announce(KEY);
  const notes = new Map<number, string>();
  for (let i = 0; i < MOST; i++) notes.set(log.ledger.rows.length, log.checkpoint());
  return { ledger: log.ledger, notes };
}

const hashes = (ledger: LedgerBuilder, from: number, to: number): Uint8Array[] =>
  ledger.rows.slice(from, to).map(({ hash }) => hash);

function split(size: number): number {
  return 2 ** Math.floor(Math.log2(size - 1));
}

/** RFC 6962, section 2.1.1, word for word. */
function pathOf(ledger: LedgerBuilder, index: number, from: number, to: number): Uint8Array[] {
  if (to - from === 1) return [];
  const middle = from + split(to - from);
  return index < middle
    ? [...pathOf(ledger, index, from, middle), rootOf(hashes(ledger, middle, to))]
    : [...pathOf(ledger, index, middle, to), rootOf(hashes(ledger, from, middle))];
}

/** RFC 6962, section 2.1.2, word for word. */
function subproof(ledger: LedgerBuilder, older: number, from: number, to: number, isWhole: boolean): Uint8Array[] {
  if (older === to) return isWhole ? [] : [rootOf(hashes(ledger, from, to))];
  const middle = from + split(to - from);
  return older <= middle
    ? [...subproof(ledger, older, from, middle, isWhole), rootOf(hashes(ledger, middle, to))]
    : [...subproof(ledger, older, middle, to, false), rootOf(hashes(ledger, from, middle))];
}

const lines = (path: readonly Uint8Array[]): string =>
  path.map((hash) => `${Buffer.from(hash).toString("base64")}\n`).join("");

function trusting(key = KEY, recordHash?: Uint8Array) {
  const parsed = parseVerifierKey(key.text);
  assert.ok(parsed !== undefined);
  return { key: parsed, announcements: [], recordHash };
}

function failsWith(text: string, words: RegExp, isUnreadable: boolean, trust = trusting()): void {
  const check = (): unknown => checkProofText(text, trust);
  assert.throws(
    check,
    (fault) => fault instanceof ProofFault && words.test(fault.message) && fault.isUnreadable === isUnreadable,
  );
}

test("the proofs of every record and of every two checkpoints hold, and for nothing else", () => {
  const { ledger, notes } = signed();
  for (const [size, note] of notes) {
    for (let index = 0; index < size; index++) {
      const path = lines(pathOf(ledger, index, 0, size));
      const row = ledger.rows[index];
      const text = `c2sp.org/tlog-proof@v1\nextra ${Buffer.from(row?.record ?? []).toString("base64")}\nindex ${index}\n${path}\n${note}`;
      const fact = checkProofText(text, trusting());
      assert.ok(fact.kind === "record" && fact.index === index && fact.treeSize === size);
      const without = text.replace(/\nextra .*/, "");
      assert.equal(checkProofText(without, trusting(KEY, row?.hash)).kind, "record");
      failsWith(without, /covers at/, false, trusting(KEY, ledger.rows[size]?.hash));
      if (size > 1)
        failsWith(text.replace(`\nindex ${index}\n`, `\nindex ${(index + 1) % size}\n`), /another index/, false);
    }
    for (const [older, olderNote] of notes) {
      if (older > size) continue;
      const text = `narthex/log-consistency/v1\n${lines(subproof(ledger, older, 0, size, true))}\n${olderNote}\n${note}`;
      assert.deepEqual(checkProofText(text, trusting()), {
        kind: "extension",
        origin: fact(note),
        fromSize: older,
        treeSize: size,
      });
      if (older < size) failsWith(`narthex/log-consistency/v1\n\n${olderNote}\n${note}`, /does not extend/, false);
    }
  }
  function fact(note: string): string {
    return note.split("\n")[0] ?? "";
  }
});

test("rejects a proof that is malformed, truncated, or signed by another key", () => {
  const { ledger, notes } = signed();
  const note = notes.get(5) ?? "";
  const path = lines(pathOf(ledger, 2, 0, 5));
  const text = `c2sp.org/tlog-proof@v1\nindex 2\n${path}\n${note}`;
  const trust = trusting(KEY, ledger.rows[2]?.hash);
  assert.equal(checkProofText(text, trust).kind, "record");
  for (const wrong of [
    "",
    "hello",
    text.slice(0, -1),
    `${text}\n`,
    text.replaceAll("\n", "\r\n"),
    text.replace("index 2", "index 02"),
  ]) {
    failsWith(wrong, /./, true, trust);
  }
  failsWith(text, /its hash was not given/, true);
  failsWith(text, /not signed by a key that is trusted/, false, trusting(NEXT, ledger.rows[2]?.hash));
  failsWith(text.replace(path, path.split("\n").slice(1).join("\n")), /covers at 2/, false, trust);
});
