import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Envelope, encodeEnvelope, readEnvelopes } from "./envelope.ts";

async function readAll(chunks: readonly Uint8Array[], maxBytes = 1000): Promise<Envelope[]> {
  async function* feed(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  const envelopes: Envelope[] = [];
  for await (const envelope of readEnvelopes(feed(), maxBytes)) envelopes.push(envelope);
  return envelopes;
}

describe("readEnvelopes", () => {
  it("rejects a length above the limit before reading the bytes", async () => {
    await assert.rejects(readAll([Uint8Array.of(0, 255, 255, 255, 255)]), /too long/);
  });

  it("rejects a stream that ends within a message", async () => {
    await assert.rejects(readAll([encodeEnvelope(Uint8Array.of(1, 2, 3)).subarray(0, 6)]), /cut short/);
    await assert.rejects(readAll([Uint8Array.of(0, 0)]), /cut short/);
  });

  it("rejects compressed and unknown messages", async () => {
    await assert.rejects(readAll([Uint8Array.of(1, 0, 0, 0, 0)]), /unknown kind/);
  });

  it("decodes the same messages in any chunks", async () => {
    const stream = Buffer.concat([
      encodeEnvelope(Uint8Array.of(1, 2, 3)),
      encodeEnvelope(new Uint8Array(0)),
      Uint8Array.of(2, 0, 0, 0, 2, 0x7b, 0x7d),
    ]);
    for (let size = 1; size <= stream.length; size += 1) {
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < stream.length; at += size) chunks.push(stream.subarray(at, at + size));
      const found = (await readAll(chunks)).map(({ isEndStream, data }) => [
        isEndStream,
        Buffer.from(data).toString("hex"),
      ]);
      assert.deepEqual(found, [
        [false, "010203"],
        [false, ""],
        [true, "7b7d"],
      ]);
    }
  });
});
