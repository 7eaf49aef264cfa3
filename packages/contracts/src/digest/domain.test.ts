import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3 } from "./blake3.ts";
import { toHex } from "./bytes.ts";
import { commitTo, digestRequest, hashRecord, hashToken, type RequestIdentity } from "./domain.ts";

const digest = Uint8Array.from({ length: 32 }, (_, i) => i);
const nonce = Uint8Array.from({ length: 32 }, (_, i) => 255 - i);

function expected(tag: string, ...parts: (Uint8Array | string)[]): Uint8Array {
  const domain = Buffer.alloc(32);
  domain.write(tag, "ascii");
  return blake3(Buffer.concat([domain, ...parts.map((part) => Buffer.from(part))]));
}

test("digests and nonces of another length are refused", () => {
  for (const length of [0, 31, 33]) {
    assert.throws(() => commitTo(new Uint8Array(length), nonce), RangeError);
    assert.throws(() => commitTo(digest, new Uint8Array(length)), RangeError);
    assert.throws(
      () => digestRequest({ toolName: "echo", toolVersion: "", inputDigest: new Uint8Array(length) }),
      RangeError,
    );
  }
});

test("a name and a version cannot trade characters", () => {
  const inputDigest = digest;
  const digests = [
    digestRequest({ toolName: "ab", toolVersion: "c", inputDigest }),
    digestRequest({ toolName: "a", toolVersion: "bc", inputDigest }),
    digestRequest({ toolName: "abc", toolVersion: "", inputDigest }),
    digestRequest({ toolName: "", toolVersion: "abc", inputDigest }),
  ];
  assert.equal(new Set(digests.map(toHex)).size, 4);
});

test("the same bytes hash differently in each domain", () => {
  const text = "x".repeat(64);
  const bytes = Buffer.from(text);
  const hashes = [
    hashRecord(bytes),
    hashToken(text),
    commitTo(bytes.subarray(0, 32), bytes.subarray(32)),
    blake3(bytes),
  ];
  assert.equal(new Set(hashes.map(toHex)).size, 4);
});

test("a digest that failed half-way leaves nothing for the next", () => {
  const request = { toolName: "echo", toolVersion: "", inputDigest: digest };
  const before = digestRequest(request);
  const broken = { ...request, toolVersion: undefined } as unknown as RequestIdentity;
  assert.throws(() => digestRequest(broken), TypeError);
  assert.deepEqual(digestRequest(request), before);
});

test("every layout is the documented one", () => {
  const record = Uint8Array.from({ length: 700 }, (_, i) => i);
  assert.deepEqual(hashRecord(record), expected("narthex/record/v1", record));
  assert.deepEqual(commitTo(digest, nonce), expected("narthex/commitment/v1", nonce, digest));
  assert.deepEqual(hashToken("ntx_ses_é"), expected("narthex/token/v1", "ntx_ses_é"));
  assert.deepEqual(
    digestRequest({ toolName: "écho", toolVersion: "1.0.0", inputDigest: digest }),
    expected("narthex/request/v1", Uint8Array.of(0, 0, 0, 5), "écho", Uint8Array.of(0, 0, 0, 5), "1.0.0", digest),
  );
});

test("large inputs hash like small ones, and the small ones after them too", () => {
  const record = new Uint8Array(300_000).fill(7);
  const name = "é".repeat(70_000);
  assert.deepEqual(hashRecord(record), expected("narthex/record/v1", record));
  assert.deepEqual(
    digestRequest({ toolName: name, toolVersion: "x".repeat(100), inputDigest: digest }),
    expected(
      "narthex/request/v1",
      Uint8Array.of(0, 2, 0x22, 0xe0),
      name,
      Uint8Array.of(0, 0, 0, 100),
      "x".repeat(100),
      digest,
    ),
  );
  assert.deepEqual(hashRecord(digest), expected("narthex/record/v1", digest));
});
