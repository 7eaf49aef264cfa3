import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Blake3Hasher, blake3 as hashNative } from "@napi-rs/blake-hash";
import {
  blake3,
  commitTo,
  createBlake3,
  digestRequest,
  fromHex,
  hashRecord,
  hashToken,
  toHex,
  utf8,
} from "@narthex/contracts";
import { hash as hashPortable } from "blake3-jit";
import { createCallRandom } from "../../packages/kernel/src/session/call-random.ts";
import { commitmentTo, hashOfRecord } from "../../packages/verify/src/ledger-hash.ts";
import { b3sum } from "./b3sum.ts";

/** The lengths of the official test vectors; byte i of each input is i modulo 251. */
const LENGTHS = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2048, 2049, 3072, 3073, 4096, 4097, 5120,
  5121, 6144, 6145, 7168, 7169, 8192, 8193, 16_384, 31_744, 102_400,
];
/** Ways to cut a stream; below, at and above where the native hasher takes over. */
const PIECES = [1, 63, 64, 1000, 1024, 2047, 2048, 2049, 65_536];
const INPUTS = LENGTHS.map(input);
const EXPECTED = b3sum(INPUTS);

test("blake3 equals b3sum at every length of the official vectors", () => {
  for (const [index, bytes] of INPUTS.entries()) assert.equal(toHex(blake3(bytes)), EXPECTED[index], name(bytes));
});

test("both engines beneath blake3 equal b3sum at every length, small or large", () => {
  for (const [index, bytes] of INPUTS.entries()) {
    assert.equal(toHex(hashPortable(bytes)), EXPECTED[index], `portable, ${name(bytes)}`);
    assert.equal(hashNative(bytes).toString("hex"), EXPECTED[index], `native, ${name(bytes)}`);
    const hasher = new Blake3Hasher();
    hasher.update(bytes);
    assert.equal(hasher.digestBuffer().toString("hex"), EXPECTED[index], `native stream, ${name(bytes)}`);
  }
});

test("a stream equals b3sum at every length, in any chunks", () => {
  for (const [index, bytes] of INPUTS.entries()) {
    for (const size of PIECES) {
      const stream = createBlake3();
      for (let at = 0; at < bytes.length; at += size) stream.update(bytes.subarray(at, at + size));
      assert.equal(toHex(stream.digest()), EXPECTED[index], `pieces of ${size}, ${name(bytes)}`);
    }
  }
});

test("record hashes equal b3sum of their domain and bytes, by writer and verifier", () => {
  const expected = b3sum(INPUTS.map((record) => Buffer.concat([domain("narthex/record/v1"), record])));
  for (const [index, record] of INPUTS.entries()) {
    assert.equal(toHex(hashRecord(record)), expected[index], name(record));
    assert.equal(toHex(hashOfRecord(record)), expected[index], name(record));
  }
});

test("commitments, requests, tokens and random blocks equal b3sum of their domain and parts", () => {
  const digest = blake3(utf8("digest"));
  const nonce = blake3(utf8("nonce"));
  const token = "ntx_ses_aaaaaaaaaaaaaaaaaaaa_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
  // A text beyond ASCII and one beyond the first buffer.
  const identities = ["echo", "größe", "n".repeat(5000)].map((toolName) => ({ toolName, toolVersion: "1.0.0" }));
  const blocks = [0, 1, 2];
  const callNumber = 2 ** 32 + 5;
  const expected = b3sum([
    Buffer.concat([domain("narthex/commitment/v1"), nonce, digest]),
    Buffer.concat([domain("narthex/token/v1"), Buffer.from(token)]),
    ...identities.map(({ toolName, toolVersion }) =>
      Buffer.concat([domain("narthex/request/v1"), ...measured(toolName), ...measured(toolVersion), digest]),
    ),
    ...blocks.map((block) => Buffer.concat([domain("narthex/random/v1"), nonce, uint64(callNumber), uint64(block)])),
  ]);
  const random = createCallRandom(nonce, callNumber);
  const ours = [
    commitTo(digest, nonce),
    hashToken(token),
    ...identities.map((identity) => digestRequest({ ...identity, inputDigest: digest })),
    ...blocks.map(() => random.bytes(32)),
  ];
  assert.deepEqual(ours.map(toHex), expected);
  assert.equal(toHex(commitmentTo(digest, nonce)), expected[0]);
});

test("frozen digests equal b3sum of their inputs", () => {
  const { content, record, commitment, request, token } = frozenDigests();
  const expected = b3sum([
    ...content.map(({ bytes }) => hex(bytes)),
    ...record.map((frozen) => Buffer.concat([domain("narthex/record/v1"), hex(frozen.record)])),
    ...commitment.map(({ nonce, digest }) => Buffer.concat([domain("narthex/commitment/v1"), hex(nonce), hex(digest)])),
    ...request.map(({ tool_name, tool_version, input_digest }) =>
      Buffer.concat([
        domain("narthex/request/v1"),
        ...measured(tool_name),
        ...measured(tool_version),
        hex(input_digest),
      ]),
    ),
    ...token.map((frozen) => Buffer.concat([domain("narthex/token/v1"), Buffer.from(frozen.token)])),
  ]);
  assert.deepEqual(expected, [
    ...content.map(({ hash }) => hash),
    ...record.map(({ hash }) => hash),
    ...commitment.map((frozen) => frozen.commitment),
    ...request.map(({ digest }) => digest),
    ...token.map(({ hash }) => hash),
  ]);
});

interface FrozenDigests {
  readonly content: readonly { bytes: string; hash: string }[];
  readonly record: readonly { record: string; hash: string }[];
  readonly commitment: readonly { digest: string; nonce: string; commitment: string }[];
  readonly request: readonly { tool_name: string; tool_version: string; input_digest: string; digest: string }[];
  readonly token: readonly { token: string; hash: string }[];
}

function frozenDigests(): FrozenDigests {
  return JSON.parse(readFileSync(new URL("../../vectors/digests.json", import.meta.url), "utf8")) as FrozenDigests;
}

function input(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => index % 251);
}

function name(bytes: Uint8Array): string {
  return `${bytes.length} bytes`;
}

function domain(tag: string): Uint8Array {
  const bytes = Buffer.alloc(32);
  bytes.write(tag);
  return bytes;
}

function measured(text: string): Uint8Array[] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return [length, Buffer.from(text)];
}

function uint64(value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function hex(text: string): Uint8Array {
  return fromHex(text) ?? assert.fail(`not hex: ${text}`);
}
