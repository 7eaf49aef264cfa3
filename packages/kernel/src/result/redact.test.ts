import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { createStreamRedactor, redactBytes, redactJson, redactJsonAndNumbers, redactText } from "./redact.ts";

const hide = (...secrets: string[]) => [{ secrets, replacement: "[hidden]" }];

/** Marks every byte of every occurrence, then replaces each unbroken run of overlapping occurrences. */
function redactByMarking(text: string, secrets: readonly string[]): string {
  const bytes = Buffer.from(text);
  const runs: [start: number, end: number][] = [];
  const hits = secrets.flatMap((secret) => {
    const wanted = Buffer.from(secret);
    const found: [number, number][] = [];
    for (let at = 0; wanted.length > 0 && at + wanted.length <= bytes.length; at++) {
      if (bytes.subarray(at, at + wanted.length).equals(wanted)) found.push([at, at + wanted.length]);
    }
    return found;
  });
  for (const [start, end] of hits.sort(([a], [b]) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end);
    else runs.push([start, end]);
  }
  let redacted = "";
  let at = 0;
  for (const [start, end] of runs) {
    redacted += `${bytes.subarray(at, start).toString()}[hidden]`;
    at = end;
  }
  return redacted + bytes.subarray(at).toString();
}

const anySecrets = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "é", "😀"), maxLength: 5 }), { maxLength: 4 });
const anyText = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀", "c"), maxLength: 60 });

test("redacting a stream in any chunks equals redacting the whole", () => {
  fc.assert(
    fc.property(anyText, anySecrets, fc.array(fc.nat(300)), (text, secrets, cuts) => {
      const bytes = Buffer.from(text);
      const redactor = createStreamRedactor(hide(...secrets));
      const parts: Uint8Array[] = [];
      let at = 0;
      for (const cut of [...cuts.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
        parts.push(redactor.push(bytes.subarray(at, cut)));
        at = cut;
      }
      parts.push(redactor.end());
      const whole = redactText(text, hide(...secrets));
      assert.equal(Buffer.concat(parts).toString(), whole);
      assert.equal(whole, redactByMarking(text, secrets));
      assert.equal(Buffer.from(redactBytes(bytes, hide(...secrets))).toString(), whole);
    }),
    { numRuns: 500 },
  );
});

test("leaves no part of overlapping secrets", () => {
  assert.equal(redactText("xabcdey", hide("abc", "bcde")), "x[hidden]y");
  assert.equal(redactText("aaaaa", hide("aa")), "[hidden]");
  assert.equal(redactText("abab", hide("ab")), "[hidden][hidden]");
});

test("a replacement is literal text, whatever characters it contains", () => {
  for (const replacement of ["$&", "$`", "$'", "$1", "secret", ""]) {
    assert.equal(redactText("a secret b", [{ secrets: ["secret"], replacement }]), `a ${replacement} b`);
  }
});

test("a stream emits nothing of a secret before all of it has arrived", () => {
  const redactor = createStreamRedactor(hide("password"));
  let seen = "";
  for (const character of "my passwor") seen += Buffer.from(redactor.push(Buffer.from(character))).toString();
  assert.equal(seen, "my ");
  seen += Buffer.from(redactor.push(Buffer.from("d!"))).toString() + Buffer.from(redactor.end()).toString();
  assert.equal(seen, "my [hidden]!");
});

test("redacting takes time proportional to the text, also with absent secrets", () => {
  const secrets = ["x", ...Array.from({ length: 20 }, (_, i) => `never there ${i}`)];
  const redacted = redactBytes(Buffer.alloc(200_000, "x"), [{ secrets, replacement: "" }]);
  assert.equal(redacted.length, 0);
});

test("redacts secrets in every string and key of a value, and a key stays a key", () => {
  const value = JSON.parse('{"secret":["a secret",{"b":"secret"},1,null],"__proto__":"secret"}');
  const redacted = redactJson(value, hide("secret"));
  assert.equal(JSON.stringify(redacted), '{"[hidden]":["a [hidden]",{"b":"[hidden]"},1,null],"__proto__":"[hidden]"}');
  assert.equal(Object.getPrototypeOf(redacted), Object.prototype);
});

test("redacts a number whose digits contain a secret, and no other", () => {
  const value = { pin: 12345678, ids: [912345678, 1234567, -12345678], "12345678": true, text: "12345678" };
  assert.deepEqual(redactJsonAndNumbers(value, hide("12345678")), {
    pin: "[hidden]",
    ids: ["9[hidden]", 1234567, "-[hidden]"],
    "[hidden]": true,
    text: "[hidden]",
  });
});

test("leaves everything unchanged without secrets", () => {
  const chunk = Buffer.from("text");
  for (const redactors of [[], hide(), hide("")]) {
    assert.equal(redactText("text \ud83d\ude00", redactors), "text 😀");
    assert.equal(createStreamRedactor(redactors).push(chunk), chunk);
  }
});
