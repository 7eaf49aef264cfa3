import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "./bytes.ts";
import { sha256 } from "./sha256.ts";

test("the published examples of FIPS 180", () => {
  const hashOf = (text: string): string => toHex(sha256(Buffer.from(text)));
  assert.equal(hashOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.equal(hashOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
