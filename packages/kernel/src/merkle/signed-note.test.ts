import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { toHex } from "@narthex/contracts";
import { checkpointText, parseCheckpointText } from "./checkpoint-note.ts";
import { encodeNote, parseNote } from "./signed-note.ts";
import { createVerifierKey, parseVerifierKey } from "./verifier-key.ts";

/** From the page of C2SP signed-note. */
const KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
const NOTE = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;

test("rejects an invalid verifier key", () => {
  for (const text of [
    "",
    "example.com/foo",
    KEY.replace("530d903a", "530d903b"),
    KEY.replace("530d903a", "530D903A"),
    KEY.replace("+Ae", "+Be"),
    `${KEY}\n`,
    `${KEY}=`,
    KEY.replace("example.com/foo", "example.com/ foo"),
    KEY.replace("example.com/foo", "example.com/fo"),
    KEY.slice(0, -1),
  ]) {
    assert.equal(parseVerifierKey(text), undefined, text);
  }
});

test("rejects an invalid signed note", () => {
  for (const text of [
    "",
    "\n",
    "text\n",
    "text\n\n",
    NOTE.slice(0, -1),
    `${NOTE}\n`,
    `${NOTE}more\n`,
    NOTE.replace("—", "-"),
    NOTE.replace("— example.com/foo ", "— example.com/foo  "),
    NOTE.replace("aQM=", "aQM"),
    NOTE.replace("aQM=", "aQN="),
    NOTE.replace("example message", "example\tmessage"),
    NOTE.replaceAll("\n", "\r\n"),
    NOTE.replace("message", "\ud800"),
    NOTE.replace("\n\n", "\n"),
    `${"x".repeat(20_000)}${NOTE}`,
    NOTE + NOTE.split("\n")[2] + NOTE.split("\n").slice(2).join("\n").repeat(17),
  ]) {
    assert.equal(parseNote(text), undefined, text);
  }
});

test("parses the published note and verifies it with the published key", () => {
  const note = parseNote(NOTE);
  const key = parseVerifierKey(KEY);
  assert.ok(note !== undefined && key !== undefined);
  const [line] = note.signatures;
  assert.ok(line !== undefined);
  assert.equal(note.text, "This is an example message.\n");
  assert.equal(line.name, key.name);
  assert.equal(toHex(line.keyId), "530d903a");
  const publicKey = createPublicKey({
    key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key.publicKey]),
    format: "der",
    type: "spki",
  });
  assert.equal(verify(null, Buffer.from(note.text), publicKey, line.signature), true);
  assert.equal(encodeNote(note), NOTE);
  assert.equal(createVerifierKey(key.name, key.publicKey).text, KEY);
});

test("a note may contain empty lines, and its last one ends the text", () => {
  const text = "first\n\n— looks.like/a-signature AAAAAAAA\n\nlast\n";
  const signatures = [{ name: "a", keyId: Buffer.alloc(4), signature: Buffer.alloc(64) }];
  assert.equal(parseNote(encodeNote({ text, signatures }))?.text, text);
});

test("parses a checkpoint's text as it was written, and rejects any other text", () => {
  const facts = fc.record({
    origin: fc.stringMatching(/^narthex\/log_[a-z2-7]{20}$/),
    size: fc.maxSafeNat(),
    root: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  });
  fc.assert(
    fc.property(facts, (checkpoint) => {
      const text = checkpointText(checkpoint);
      assert.deepEqual(parseCheckpointText(text), { ...checkpoint });
      const [origin = "", size = "", root = ""] = text.split("\n");
      for (const other of [
        `${origin}\n0${size}\n${root}\n`,
        `${origin}\n+${size}\n${root}\n`,
        `${origin}\n${size}.0\n${root}\n`,
        `${origin}\n99999999999999999\n${root}\n`,
        `\n${size}\n${root}\n`,
        `${origin}\n${size}\n${root.slice(0, -1)}\n`,
        `${origin}\n${size}\n${root}\nextension\n`,
        `${origin}\n${size}\n${root}`,
      ]) {
        assert.equal(parseCheckpointText(other), undefined, other);
      }
    }),
    { numRuns: 100 },
  );
});
