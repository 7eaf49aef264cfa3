import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, KernelError, toHex } from "@narthex/contracts";
import * as fc from "fast-check";
import { parseContentUri } from "./content-uri.ts";
import type { McpCaller } from "./mcp-caller.ts";
import { readResource } from "./read-resource.ts";
import { createRecentResults } from "./recent-results.ts";

function reading(bytes: Uint8Array) {
  const hash = blake3(bytes);
  const recent = createRecentResults();
  const caller: Pick<McpCaller, "readContent"> = {
    async readContent(asked, offset, limit) {
      if (toHex(asked) !== toHex(hash)) throw new KernelError("CONTENT_NOT_FOUND", "no such content");
      const chunks = (async function* () {
        yield bytes.subarray(offset, offset + limit);
      })();
      return { hash, size: bytes.length, labels: [], chunks };
    },
  };
  return { uri: `narthex://content/${toHex(hash)}`, read: (uri: string) => readResource(uri, { caller, recent }) };
}

for (const uri of [
  "",
  "file:///etc/passwd",
  `narthex://content/${"A".repeat(64)}`,
  `narthex://content/${"a".repeat(63)}`,
  `narthex://content/${"a".repeat(64)}/..`,
  `narthex://content/${"a".repeat(64)}?offset=-1`,
  `narthex://content/${"a".repeat(64)}?offset=1e9`,
  `narthex://content/${"a".repeat(64)}?offset=1&offset=2`,
  `narthex://content/${"a".repeat(64)}?other=1`,
  `narthex://content/${"a".repeat(64)}?offset=9007199254740993`,
]) {
  test(`rejects \`${uri.slice(-40)}\` as a resource`, async () => {
    assert.equal(parseContentUri(uri), undefined);
    await assert.rejects(reading(Buffer.from("x")).read(uri), /no resource has this address/);
  });
}

test("reports unknown content and another session's content as not found", async () => {
  await assert.rejects(reading(Buffer.from("x")).read(`narthex://content/${"a".repeat(64)}`), /CONTENT_NOT_FOUND/);
});

test("pages of any size add up to the whole, and text is never cut inside a character", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc.integer({ min: 4, max: 20 }),
      async (text, limit) => {
        fc.pre(!text.includes("\0"));
        const { uri, read } = reading(Buffer.from(text));
        let whole = "";
        for (let next: unknown = `${uri}?limit=${limit}`; typeof next === "string"; ) {
          const [page] = (await read(next)).contents;
          assert.ok(page !== undefined && "text" in page);
          whole += page.text;
          const following = page._meta?.["next"];
          next = typeof following === "string" ? `${following}&limit=${limit}` : undefined;
        }
        assert.equal(whole, text);
      },
    ),
    { numRuns: 200 },
  );
});

test("returns binary content as bytes", async () => {
  const { uri, read } = reading(Uint8Array.of(0xff, 0, 1));
  const [page] = (await read(uri)).contents;
  assert.ok(page !== undefined && "blob" in page);
  assert.deepEqual([...Buffer.from(page.blob, "base64")], [0xff, 0, 1]);
});
