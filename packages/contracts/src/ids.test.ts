import assert from "node:assert/strict";
import { test } from "node:test";
import { createId, createToken, parseToken } from "./ids.ts";
import { isKernelError } from "./kernel-error.ts";

const counting = (length: number) => Uint8Array.from({ length }, (_, i) => i * 37 + 11);
const SESSION = "ses_abcdefghijklmnopqrst";

test("a random source that gives too little or too much is refused", () => {
  for (const random of [() => new Uint8Array(0), () => new Uint8Array(12), () => new Uint8Array(64)]) {
    assert.throws(() => createId("ses", random), isKernelError);
    assert.throws(() => createToken(SESSION, random), isKernelError);
  }
});

test("what only resembles a token has no session", () => {
  const token = createToken(SESSION, counting);
  const texts = ["", "ntx_", SESSION, token.slice(0, -1), `${token}A`, `${token}\n`, ` ${token}`, token.toUpperCase()];
  texts.push(
    token.replace("ntx", "ntz"),
    token.replace("ses", "lea"),
    token.replace("abc", "ab1"),
    token.replace("_", "-"),
  );
  texts.push(`ntx_${SESSION}_${"=".repeat(43)}`, `ntx_${SESSION}_${"é".repeat(43)}`, "x".repeat(1_000_000));
  for (const text of texts) assert.equal(parseToken(text), undefined, text.slice(0, 100));
});

test("an id is its prefix and twenty characters that use every random bit", () => {
  assert.equal(
    createId("ses", (n) => new Uint8Array(n)),
    "ses_aaaaaaaaaaaaaaaaaaaa",
  );
  assert.equal(
    createId("lea", (n) => new Uint8Array(n).fill(255)),
    "lea_77777777777777777777",
  );
  assert.match(createId("apr", counting), /^apr_[a-z2-7]{20}$/);
  const ids = new Set<string>();
  for (let bit = 0; bit < 100; bit++) {
    ids.add(createId("req", (n) => new Uint8Array(n).map((_, i) => (i === bit >> 3 ? 0x80 >> (bit & 7) : 0))));
  }
  assert.equal(ids.size, 100);
});

test("a token names its session and carries 256 random bits", () => {
  const token = createToken(SESSION, counting);
  assert.equal(token.length, 4 + SESSION.length + 1 + 43);
  assert.ok(token.length <= 256);
  assert.deepEqual(parseToken(token), { sessionId: SESSION });
  assert.deepEqual(new Uint8Array(Buffer.from(token.slice(-43), "base64url")), counting(32));
});

test("a token with underscores and dashes in its secret is read", () => {
  const token = createToken(SESSION, (n) => new Uint8Array(n).fill(255));
  assert.ok(token.includes("____"));
  assert.deepEqual(parseToken(token), { sessionId: SESSION });
});
