import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, ContentPlace, ContentRole, commitTo, utf8 } from "@narthex/contracts";
import { createTestRandom } from "@narthex/testkit";
import { commitContent, commitRequest } from "./commitment.ts";

const bytes = utf8("content");
const content = { role: ContentRole.RESULT, digest: blake3(bytes), size: bytes.length, bytes };

test("two commitments to the same content have nothing in common", () => {
  const random = createTestRandom("commitment");
  const [one, two] = [commitContent(content, random), commitContent(content, random)];
  assert.notDeepEqual(one.commitment, two.commitment);
  assert.notDeepEqual(one.item.nonce, two.item.nonce);
  assert.deepEqual(one.digest, two.digest);
});

test("a commitment is opened by its own item only", () => {
  const random = createTestRandom("commitment");
  const [one, two] = [commitContent(content, random), commitContent(content, random)];
  const open = ({ item }: typeof one) => commitTo(item.digest ?? assert.fail(), item.nonce ?? assert.fail());
  assert.deepEqual(open(one), one.commitment);
  assert.notDeepEqual(open(two), one.commitment);
  assert.equal(one.item.nonce?.length, 32);
});

test("content is placed in the row if its bytes are given, else at the given place, else nowhere", () => {
  const random = createTestRandom("commitment");
  const { role, digest, size } = content;
  assert.equal(commitContent(content, random).item.place, ContentPlace.ROW);
  assert.equal(commitContent({ role, digest, size, place: ContentPlace.FILE }, random).item.place, ContentPlace.FILE);
  assert.equal(commitContent({ role, digest, size }, random).item.place, ContentPlace.NONE);
});

test("commits to a request by its digest, without bytes", () => {
  const { item } = commitRequest(content.digest, createTestRandom("commitment"));
  assert.deepEqual(
    [item.role, item.place, item.size, item.data],
    [ContentRole.REQUEST, ContentPlace.NONE, 0, undefined],
  );
});
