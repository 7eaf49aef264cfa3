import assert from "node:assert/strict";
import { duplexPair } from "node:stream";
import { describe, it } from "node:test";
import type { EgressEvent } from "@narthex/kernel";
import { OpenExchange } from "./open-exchange.ts";
import { relay } from "./relay.ts";

const aTurn = (): Promise<unknown> => new Promise(setImmediate);

describe("a relay", () => {
  it("restarts its idle timer on traffic in either direction, and forwards all of it", async (t) => {
    const [program, client] = duplexPair();
    const [host, server] = duplexPair();
    let counted = 0;
    const events: EgressEvent[] = [];
    const exchange = new OpenExchange({ host: "a.test", port: 443, sends: true }, "CONNECT", {
      count: (bytes) => void (counted += bytes),
      classOf: () => undefined,
      onEnd: (_, event) => void events.push(event),
    });
    const heard = { host: "", program: "" };
    host.on("data", (chunk: Buffer) => (heard.host += chunk.toString()));
    program.on("data", (chunk: Buffer) => (heard.program += chunk.toString()));
    const waiting = t.mock.method(globalThis, "setTimeout");
    const relayed = relay(client, server, Buffer.from("first"), exchange, 10_000);
    const timer = waiting.mock.calls[0]?.result;
    assert.ok(timer !== undefined);
    const refreshed = t.mock.method(timer, "refresh");
    for (const side of [program, host, program, host]) {
      side.write("more");
      await aTurn();
    }
    assert.equal(refreshed.mock.callCount(), 4);
    program.end();
    host.end();
    await relayed;
    assert.equal(counted, 21);
    assert.deepEqual(heard, { host: "firstmoremore", program: "moremore" });
    assert.deepEqual(events, [], "whoever opened it tells of it");
  });
});
