import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { blake3 } from "./blake3.ts";
import { fromHex, toHex } from "./bytes.ts";
import { digestCall, digestSession } from "./session-digest.ts";

interface FrozenCall {
  readonly tool_name: string;
  readonly tool_version: string;
  readonly definition_hash: string;
  readonly input_digest: string;
  readonly decision: string;
  readonly error_code: string;
  readonly result_hash: string;
  readonly digest: string;
}

const frozen = JSON.parse(
  readFileSync(new URL("../../../../vectors/session-digest.json", import.meta.url), "utf8"),
) as { readonly sets: readonly (readonly FrozenCall[])[]; readonly content_digest: string };

const bytes = (hex: string): Uint8Array => fromHex(hex) ?? new Uint8Array(0);
const number = (value: number, width: number): Buffer =>
  Buffer.from(value.toString(16).padStart(width * 2, "0"), "hex");
const measured = (text: string): Buffer => Buffer.concat([number(Buffer.byteLength(text), 4), Buffer.from(text)]);
const hash = (hex: string): Buffer => (hex === "" ? Buffer.alloc(32) : Buffer.from(hex, "hex"));
const tag = (text: string): Buffer => Buffer.concat([Buffer.from(text), Buffer.alloc(32 - text.length)]);

test("the frozen session has its digest, written out by the specification alone", () => {
  const parts = [tag("narthex/session/v1")];
  for (const set of frozen.sets) {
    const digests = set.map((call) =>
      Buffer.from(
        blake3(
          Buffer.concat([
            tag("narthex/session-call/v1"),
            measured(call.tool_name),
            measured(call.tool_version),
            hash(call.definition_hash),
            hash(call.input_digest),
            measured(call.decision),
            measured(call.error_code),
            hash(call.result_hash),
          ]),
        ),
      ),
    );
    assert.deepEqual(
      digests.map((digest) => digest.toString("hex")),
      set.map(({ digest }) => digest),
    );
    parts.push(number(set.length, 8), ...digests.sort(Buffer.compare));
  }
  assert.equal(toHex(blake3(Buffer.concat(parts))), frozen.content_digest);
});

test("and by the code, in whichever order calls of one set come", () => {
  for (const turn of [0, 1, 2]) {
    const session = digestSession();
    for (const set of frozen.sets) {
      const digests = set.map((call) =>
        digestCall({
          toolName: call.tool_name,
          toolVersion: call.tool_version,
          definitionHash: bytes(call.definition_hash),
          inputDigest: bytes(call.input_digest),
          decision: call.decision,
          errorCode: call.error_code,
          resultHash: bytes(call.result_hash),
        }),
      );
      session.add([...digests.slice(turn), ...digests.slice(0, turn)]);
    }
    assert.equal(toHex(session.finish()), frozen.content_digest);
  }
});
