import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatListenAddress, parseListenAddress } from "./listen-address.ts";

describe("parseListenAddress", () => {
  it("rejects an invalid address", () => {
    for (const text of [
      "",
      "7411",
      ":7411",
      "localhost",
      "localhost:",
      "::1:7411",
      "[::1]",
      "a:70000",
      "a b:1",
      "a:-1",
    ]) {
      assert.throws(() => parseListenAddress(text), { code: "USAGE" }, text);
    }
  });

  it("parses names, IPv4 and IPv6 addresses", () => {
    assert.deepEqual(parseListenAddress("localhost:0"), { host: "127.0.0.1", port: 0 });
    assert.deepEqual(parseListenAddress("127.0.0.1:7411"), { host: "127.0.0.1", port: 7411 });
    assert.deepEqual(parseListenAddress("[::1]:7411"), { host: "::1", port: 7411 });
    assert.equal(formatListenAddress({ host: "::1", port: 7411 }), "http://[::1]:7411");
    assert.equal(formatListenAddress({ host: "127.0.0.1", port: 1 }), "http://127.0.0.1:1");
  });
});
