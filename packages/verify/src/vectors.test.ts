import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import {
  blake3,
  canonicalJson,
  commitTo,
  create,
  createId,
  decode,
  digestRequest,
  encode,
  fromHex,
  hashRecord,
  hashToken,
  parseJson,
  ToolRequestSchema,
  toHex,
  utf8,
} from "@narthex/contracts";
import { commitmentTo, hashOfRecord } from "./ledger-hash.ts";
import { LedgerBuilder } from "./testing/ledger-builder.ts";
import { applyEdit, type LedgerEdit } from "./testing/vectors/apply-edit.ts";
import { messageInit, type VectorFields } from "./testing/vectors/message-init.ts";
import { type GoldenLog, goldenReport } from "./testing/vectors/golden-log.ts";
import { verifyLedger } from "./verify-ledger.ts";
import type { VerifyReport } from "./verify-report.ts";
import { decodeCanonical, Malformed } from "./wire/decode-canonical.ts";
import { layoutOf } from "./wire/message-layout.ts";

test("requests encode to their frozen bytes and back", () => {
  const { requests } = read<{ requests: { name: string; fields: VectorFields; hex: string }[] }>(
    "encoding/requests.json",
  );
  for (const { name, fields, hex } of requests) {
    const request = create(ToolRequestSchema, messageInit(ToolRequestSchema, fields));
    assert.equal(toHex(encode(request)), hex, name);
    assert.deepEqual(decode(bytes(hex)), request, name);
  }
});

test("a decoder that shares no code with the encoder accepts the frozen requests as canonical", () => {
  const { requests } = read<{ requests: { name: string; hex: string }[] }>("encoding/requests.json");
  const layout = layoutOf(ToolRequestSchema, {});
  for (const { name, hex } of requests) {
    const decoded = decodeCanonical(layout, bytes(hex));
    // What the ledger may not hold is a number beyond 2^53, not an encoding of another form.
    if (decoded instanceof Malformed) assert.match(decoded.reason, /2\^53/, name);
  }
});

test("other spellings of a request mean the same", () => {
  type Spelling = { name: string; hex: string; canonical: string };
  for (const { name, hex, canonical } of read<{ other_spellings: Spelling[] }>("encoding/requests.json")
    .other_spellings) {
    assert.equal(toHex(encode(decode(bytes(hex)))), canonical, name);
  }
});

test("rejected requests name the frozen rules", () => {
  type Refused = { name: string; hex: string; violations: { field: string; rule: string }[] };
  for (const { name, hex, violations } of read<{ refused: Refused[] }>("encoding/requests.json").refused) {
    assert.throws(
      () => decode(bytes(hex)),
      (fault: Error & { violations: { field: string; rule: string }[] }) => {
        assert.deepEqual(
          fault.violations.map(({ field, rule }) => ({ field, rule })),
          violations,
          name,
        );
        return true;
      },
    );
  }
});

test("JSON texts have their frozen canonical text and hash", () => {
  for (const { text, canonical, hash } of read<{ text: string; canonical: string; hash: string }[]>(
    "canonical-json/values.json",
  )) {
    assert.equal(canonicalJson(parseJson(text)), canonical);
    assert.equal(canonicalJson(parseJson(canonical)), canonical);
    assert.equal(toHex(blake3(utf8(canonical))), hash);
  }
});

test("rejected JSON texts break the frozen rule", () => {
  for (const { name, text, rule } of read<{ name: string; text: string; rule: string }[]>(
    "canonical-json/refused.json",
  )) {
    assert.throws(
      () => parseJson(text),
      (fault: Error) => "rule" in fault && fault.rule === rule,
      name,
    );
  }
});

test("every digest equals the frozen one", () => {
  const digests = read<{
    content: { bytes: string; hash: string }[];
    record: { record: string; hash: string }[];
    commitment: { digest: string; nonce: string; commitment: string }[];
    request: { tool_name: string; tool_version: string; input_digest: string; digest: string }[];
    token: { token: string; hash: string }[];
    id: { random: string; id: string }[];
  }>("digests.json");
  for (const { bytes: content, hash } of digests.content) assert.equal(toHex(blake3(bytes(content))), hash);
  for (const { record, hash } of digests.record) {
    assert.equal(toHex(hashRecord(bytes(record))), hash);
    assert.equal(toHex(hashOfRecord(bytes(record))), hash);
  }
  for (const { digest, nonce, commitment } of digests.commitment) {
    assert.equal(toHex(commitTo(bytes(digest), bytes(nonce))), commitment);
    assert.equal(toHex(commitmentTo(bytes(digest), bytes(nonce))), commitment);
  }
  for (const { tool_name: toolName, tool_version: toolVersion, input_digest, digest } of digests.request) {
    assert.equal(toHex(digestRequest({ toolName, toolVersion, inputDigest: bytes(input_digest) })), digest);
  }
  for (const { token, hash } of digests.token) assert.equal(toHex(hashToken(token)), hash);
  for (const { random, id } of digests.id)
    assert.equal(
      createId("ses", (length) => bytes(random).slice(0, length)),
      id,
    );
});

test("the frozen ledger has its frozen report", async () => {
  const { log, proofs: _proofs, areas: _areas, ...report } = await verifyLedger(frozenLedger());
  assert.equal(log.checkpoints, 0);
  assert.deepEqual({ ...report, headHash: toHex(report.headHash) }, read("chain/report.json"));
});

test("each frozen edit of the ledger has its frozen first problem", async () => {
  type Broken = LedgerEdit & { first_problem: { record_index: number; code: string } };
  for (const { first_problem, ...edit } of read<Broken[]>("chain/broken.json")) {
    const [first] = (await verifyLedger(applyEdit(frozenLedger(), edit))).problems;
    assert.deepEqual({ record_index: first?.recordIndex, code: first?.code }, first_problem, JSON.stringify(edit));
  }
});

test("the frozen trees of every format have their frozen reports", async () => {
  const names = readdirSync(new URL("../../../vectors/log/", import.meta.url), { recursive: true, encoding: "utf8" });
  const logs = names.filter((name) => name.endsWith(".json") && !name.endsWith("-report.json"));
  assert.ok(logs.length >= 2);
  for (const name of logs) {
    const report = await goldenReport(read<GoldenLog>(`log/${name}`));
    assert.deepEqual(report, read(`log/${name.replace(/\.json$/, "-report.json")}`));
    assert.deepEqual((report as VerifyReport).problems, []);
  }
});

function frozenLedger(): LedgerBuilder {
  const { rows, files } = read<{
    rows: { index: number; chain: string; sequence: number; hash: string; record: string; content: string }[];
    files: { digest: string; size: number; modulus: number }[];
  }>("chain/ledger.json");
  const ledger = new LedgerBuilder();
  ledger.rows = rows.map(({ index, chain, sequence, hash, record, content }) => ({
    index,
    chain,
    sequence,
    hash: bytes(hash),
    record: bytes(record),
    content: bytes(content),
  }));
  for (const { digest, size, modulus } of files) {
    ledger.files.set(
      digest,
      new Uint8Array(size).map((_, i) => i % modulus),
    );
  }
  return ledger;
}

function bytes(hex: string): Uint8Array {
  const read = fromHex(hex);
  assert.ok(read !== undefined, hex);
  return read;
}

/** Vectors are this repository's own: their shape is what the script that writes them says. */
function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../../vectors/${name}`, import.meta.url), "utf8")) as T;
}
