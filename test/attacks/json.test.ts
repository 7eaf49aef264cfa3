import assert from "node:assert/strict";
import { after, test } from "node:test";
import { toHex } from "@narthex/contracts";
import { codeOf, serveKernel } from "./served-kernel.ts";

const kernel = await serveKernel();
after(() => kernel.stop());

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

const REFUSED: Record<string, string | Uint8Array> = {
  "two equal keys": '{"a":1,"a":2}',
  "two equal keys, one of them escaped": '{"a":1,"\\u0061":2}',
  "equal keys deep inside": '[{"x":{"k":1,"k":1}}]',
  "a number beyond every double": "1e400",
  "an integer that does not survive a double": "9007199254740993",
  NaN: "NaN",
  Infinity: "-Infinity",
  "ten thousand levels": deep(10_000),
  "a lone surrogate": '"\\ud800"',
  "bytes that are not UTF-8": Uint8Array.of(0x22, 0xff, 0x22),
  "a byte order mark": "\ufeff1",
  "valid JSON and then more": '{"a":1} x',
  "two values": "1 2",
  "a comment": "/* */ 1",
  "a trailing comma": "[1,]",
  "single quotes": "{'a':1}",
  "nothing but spaces": "   ",
  "a reserved secret": '{"a":{"$secret":"key"}}',
  "a reserved secret with company": '{"$secret":"key","b":1}',
};

for (const [name, input] of Object.entries(REFUSED)) {
  test(`${name} is INVALID_INPUT with the reason`, async () => {
    const response = await kernel.call("echo", input);
    assert.equal(codeOf(response), "INVALID_INPUT");
    assert.ok(response.result.case === "error" && response.result.value.violations.length > 0);
  });
}

test("equal numbers and keys have the same hash in any notation", async () => {
  const same = ['{"a":100,"b":0}', '{"b":-0,"a":1E2}', ' { "b" : 0.0 , "a" : 1e2 } ', '{"\\u0061":100.0,"b":0}'];
  const hashes = new Set<string>();
  for (const input of same) {
    const { result } = await kernel.call("echo", input);
    hashes.add(result.case === "success" ? toHex(result.value.resultHash) : assert.fail(input));
  }
  assert.equal(hashes.size, 1);
});

test("fractions are normalised to one notation", async () => {
  const forms = { "0.30000000000000004": ["0.30000000000000004", "3.0000000000000004e-1", "0.3000000000000000444"] };
  for (const [written, given] of Object.entries(forms)) {
    for (const input of given) {
      const { result } = await kernel.call("echo", input);
      assert.equal(result.case === "success" && Buffer.from(result.value.inlineResult).toString(), written, input);
    }
  }
});

test("`__proto__` is an ordinary key", async () => {
  const { result } = await kernel.call("echo", '{"__proto__":{"polluted":true},"constructor":1}');
  assert.ok(result.case === "success");
  assert.equal(Buffer.from(result.value.inlineResult).toString(), '{"__proto__":{"polluted":true},"constructor":1}');
});

test("a string of 100 MB and a million keys get a response, and the kernel continues", async () => {
  const long = await kernel.call("echo", `"${"x".repeat(100_000_000 - 1000)}"`);
  assert.equal(codeOf(long), "success");
  const keys = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":${i}`).join(",");
  assert.equal(codeOf(await kernel.call("echo", `{${keys(100_000)}}`)), "success");
  const twin = await kernel.call("echo", `{${keys(1_000_000)},"k777":1}`);
  assert.ok(twin.result.case === "error" && twin.result.value.errorCode === "INVALID_INPUT", codeOf(twin));
  assert.match(twin.result.value.message, /duplicate/);
  assert.equal(codeOf(await kernel.call("echo", "1")), "success");
});

test("hostile tool names are TOOL_NOT_FOUND or INVALID_REQUEST, never a crash", async () => {
  const names = [
    "",
    "x".repeat(10_000),
    "есho",
    "a/b",
    "..",
    "ECHO",
    "echo ",
    "echo\0",
    "__proto__",
    "constructor",
    "server__tool",
  ];
  for (const name of names)
    assert.match(codeOf(await kernel.call(name, "1")), /^(TOOL_NOT_FOUND|INVALID_REQUEST)$/, name);
});

test("all calls are in the ledger afterwards, and it is sound", () => kernel.assertSound());
