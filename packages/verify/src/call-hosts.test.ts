import assert from "node:assert/strict";
import { test } from "node:test";
import { type EntryPlain, LedgerBuilder } from "./testing/ledger-builder.ts";
import { type CallParts, callParts, openSession, SESSION } from "./testing/ledger-story.ts";
import { verifyLedger } from "./verify-ledger.ts";

type Shape = (call: CallParts) => readonly EntryPlain[];

const UNGRANTED: EntryPlain = {
  case: "capabilityCheck",
  value: { granted: false, rationaleCode: "CAPABILITY_MISSING" },
};
const NO_HOST: EntryPlain = {
  case: "egressRefused",
  value: { host: "a.test", port: 443, method: "GET", reason: "host" },
};

test("a running call continues after a denied host, and only then", async () => {
  const begun = (c: CallParts): EntryPlain[] => [c.invoked, c.checked, c.decided, c.started];
  const going: Readonly<Record<string, readonly [Shape, ok: boolean]>> = {
    "a host the lease does not name": [(c) => [...begun(c), UNGRANTED, NO_HOST, c.completed], true],
    "two of them": [(c) => [...begun(c), UNGRANTED, NO_HOST, UNGRANTED, NO_HOST, c.completed], true],
    "two that are permitted": [(c) => [...begun(c), c.checked, c.decided, c.checked, c.decided, c.completed], true],
    "a refusal that is about no host": [(c) => [...begun(c), UNGRANTED, c.completed], false],
    "a host before the refusal": [(c) => [...begun(c), NO_HOST, UNGRANTED, c.completed], false],
    "one host for two refusals": [(c) => [...begun(c), UNGRANTED, UNGRANTED, NO_HOST, c.completed], false],
    "a host of a call that never began": [(c) => [c.invoked, UNGRANTED, NO_HOST, c.completed], false],
  };
  for (const [name, [shape, ok]] of Object.entries(going)) {
    const ledger = new LedgerBuilder();
    ledger.append({ chain: "system", entries: [{ case: "kernelStarted", value: { version: "0.1.0" } }] });
    openSession(ledger);
    const call = callParts(ledger, 1, {});
    const items = [...call.items, call.result];
    ledger.append({ chain: SESSION, requestId: call.requestId, entries: shape(call), items });
    const { problems } = await verifyLedger(ledger);
    assert.equal(
      problems.some(({ code }) => code === "call_order"),
      !ok,
      `${name}: ${JSON.stringify(problems)}`,
    );
  }
});
