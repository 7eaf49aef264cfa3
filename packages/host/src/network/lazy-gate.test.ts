import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EgressClient, EgressGate, EgressGrant } from "@narthex/kernel";
import { createLazyGate } from "./lazy-gate.ts";

const PASS = {} as EgressGrant;
const REQUEST = { method: "GET", url: "http://example.com/" };
const FOREVER = new AbortController().signal;

function slowly(): { readonly gate: EgressGate; readonly seen: string[]; loaded(): void } {
  const seen: string[] = [];
  const loading = Promise.withResolvers<void>();
  const exit: EgressClient = {
    request() {
      seen.push("request");
      return Promise.reject(new Error("nobody answers"));
    },
    close() {
      seen.push("closed");
      return Promise.resolve();
    },
  };
  const gate = createLazyGate(async () => {
    seen.push("load");
    await loading.promise;
    return { open: () => exit, openProxy: () => Promise.reject(new Error("none")), close: () => exit.close() };
  });
  return { gate, seen, loaded: () => loading.resolve() };
}

describe("a gate that is loaded late", () => {
  it("is loaded by the first request, once", async () => {
    const { gate, seen, loaded } = slowly();
    const exit = gate.open(PASS);
    assert.deepEqual(seen, []);
    loaded();
    await assert.rejects(exit.request(REQUEST, FOREVER), /nobody answers/);
    await assert.rejects(gate.open(PASS).request(REQUEST, FOREVER), /nobody answers/);
    assert.deepEqual(seen, ["load", "request", "request"]);
  });

  it("sends nothing for a call that ended while it was loaded", async () => {
    const { gate, seen, loaded } = slowly();
    const exit = gate.open(PASS);
    const asked = exit.request(REQUEST, FOREVER);
    await exit.close();
    loaded();
    await assert.rejects(asked, { code: "CANCELLED" });
    assert.deepEqual(seen, ["load"]);
  });

  it("closes at once what is open, and opens nothing afterwards", async () => {
    const { gate, seen, loaded } = slowly();
    loaded();
    const exit = gate.open(PASS);
    await exit.request(REQUEST, FOREVER).catch(() => undefined);
    void exit.close();
    assert.deepEqual(seen, ["load", "request", "closed"]);
    await gate.close();
    await assert.rejects(async () => await gate.open(PASS).request(REQUEST, FOREVER), { code: "CANCELLED" });
  });
});
