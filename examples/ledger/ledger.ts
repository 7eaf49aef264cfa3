/** Reads from code what was recorded. Run it with `npm run example -- ledger`. */
import assert from "node:assert/strict";
import { mkdtempSync as makeDirectory } from "node:fs";
import { createKernel, verifyLedger } from "narthex";

const kernel = await createKernel({ data: makeDirectory("/tmp/narthex-home-") });
const session = await kernel.session({ workspace: makeDirectory("/tmp/workspace-"), agent: "reader" });
await session.call("echo", { text: "hello" }, { requestId: "first" });
await session.call("file_read", { path: "../etc/passwd" });

// The newest records, the oldest of them first; with `from`, a page from there on.
const { records } = await kernel.ledger.list({ session: session.id, limit: 100 });
for (const { call, summary } of records) console.log(call === undefined ? summary : `${call.tool}: ${summary}`);
const refused = records.filter(({ call }) => call !== undefined && call.outcome !== "success");
assert.deepEqual(
  refused.map(({ call }) => [call?.tool, call?.code]),
  [["file_read@1.0.0", "INVALID_INPUT"]],
);

const first = await kernel.ledger.get({ session: session.id, requestId: "first" });
assert.deepEqual([first?.call?.decision, first?.call?.rules], ["allowed", ["without-effects"]]);
assert.ok((await verifyLedger(kernel.ledgerSource())).intact);
await kernel.close();
