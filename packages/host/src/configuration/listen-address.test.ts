import assert from "node:assert/strict";
import { test } from "node:test";
import { CONFIGURATION_SCHEMA } from "./configuration-schema.ts";
import { parseListenAddress } from "./listen-address.ts";

const BEYOND = [
  "0.0.0.0:7411",
  "[::]:7411",
  "192.168.0.1:7411",
  "example.com:7411",
  "localhost.example.com:7411",
  "LOCALHOST:7411",
  "localhost.:7411",
  "127.1:7411",
  "127.0.0.1.:7411",
  "127.0.0.256:7411",
  "127.0.0.01:7411",
  "0177.0.0.1:7411",
  "2130706433:7411",
  "0x7f.0.0.1:7411",
  "0:7411",
  "[::ffff:127.0.0.1]:7411",
  "[::ffff:0.0.0.0]:7411",
  "[::1%eth0]:7411",
  "[]:7411",
  "127.0.0.1\n:7411",
  " 127.0.0.1:7411",
  "127.0.0.1\u0000:7411",
  "１２７.0.0.1:7411",
];
const MALFORMED = [
  "",
  ":",
  ":7411",
  "7411",
  "127.0.0.1",
  "127.0.0.1:",
  "::1:7411",
  "[::1]7411",
  "[::1]",
  "127.0.0.1:7411 ",
];
const BAD_PORTS = [
  "127.0.0.1:65536",
  "127.0.0.1:99999",
  "127.0.0.1:007411",
  "127.0.0.1:00",
  `127.0.0.1:${"9".repeat(400)}`,
];
const GOOD = [
  ["127.0.0.1:7411", { host: "127.0.0.1", port: 7411 }],
  ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
  ["127.255.3.99:65535", { host: "127.255.3.99", port: 65_535 }],
  ["[::1]:7411", { host: "::1", port: 7411 }],
  ["localhost:80", { host: "127.0.0.1", port: 80 }],
] as const;

test("whatever is not loopback is refused, since there is no TLS", () => {
  for (const text of BEYOND) {
    const address = parseListenAddress(text);
    assert.ok("problem" in address, text);
    assert.match(address.problem, /listens on loopback only; use 127\.0\.0\.1/, text);
  }
});

test("what is not host and port is refused with an example", () => {
  for (const text of [
    ...MALFORMED,
    "127.0.0.1:-1",
    "127.0.0.1:1e3",
    "127.0.0.1:7411\n",
    "http://127.0.0.1:7411",
    "a:b:1",
  ]) {
    const address = parseListenAddress(text);
    assert.ok("problem" in address && address.problem.includes("127.0.0.1:7411"), text);
  }
  for (const text of BAD_PORTS) {
    const address = parseListenAddress(text);
    assert.ok("problem" in address && address.problem.includes("port from 0 to 65535"), text);
  }
});

test("loopback addresses are taken, and localhost is not looked up", () => {
  for (const [text, address] of GOOD) assert.deepEqual(parseListenAddress(text), address);
});

test("the published pattern takes exactly the same", () => {
  const { listen } = CONFIGURATION_SCHEMA.properties;
  assert.ok(listen?.type === "string" && "pattern" in listen);
  const pattern = new RegExp(listen.pattern, "u");
  for (const text of [...BEYOND, ...MALFORMED, ...BAD_PORTS]) assert.ok(!pattern.test(text), text);
  for (const [text] of GOOD) assert.ok(pattern.test(text), text);
  for (let port = 0; port < 70_000; port++) {
    const text = `[::1]:${port}`;
    assert.equal(pattern.test(text), "host" in parseListenAddress(text), text);
  }
  for (let byte = 0; byte < 300; byte++) {
    const text = `127.${byte}.0.${byte}:1`;
    assert.equal(pattern.test(text), "host" in parseListenAddress(text), text);
  }
});
