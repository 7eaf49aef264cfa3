import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { compareWorlds } from "../../scripts/conformance/wasm/compare-worlds.ts";
import { createMeteredEngine, createPlainEngine } from "../../scripts/conformance/wasm/engines.ts";
import type { ScriptCommand } from "../../scripts/conformance/wasm/script-command.ts";
import { type Engine, World } from "../../scripts/conformance/wasm/world.ts";

const PROGRAM = fileURLToPath(new URL("../../scripts/conformance/wasm/run-suite.ts", import.meta.url));
const SCRIPTS = fileURLToPath(new URL("./scripts", import.meta.url));

suite("the official tests of WebAssembly", () => {
  test("are reported per file: same result, rejected with the reason, not readable, and no difference", async () => {
    const { code, output } = await run([SCRIPTS]);
    assert.equal(code, 0, output);
    for (const line of [
      "core.wast: passed alike 22, skipped 1 (a module that is there as text only 1), different 0",
      "partly.wast: passed alike 4, different 0, 2 forms not read by wast2json",
      "rejected.wast: passed alike 5, rejected 2 (imported-memory 2), different 0",
      "files: 2 read whole, 1 in part, 1 not read, 0 failed",
      "commands: passed alike 31, rejected 2 (imported-memory 2), skipped 1 (a module that is there as text only 1), different 0",
      "result: nothing is different; 1 files and 2 forms were not read, and show nothing",
    ]) {
      assert.ok(output.split("\n").includes(line), `not there: ${line}\n${output}`);
    }
    assert.match(output, /^unreadable\.wast: NOT READ by wast2json: /m);
  });

  test("fail if a file cannot be read", async () => {
    const directory = await mkdtemp(join(tmpdir(), "narthex-unread-"));
    await copyFile(join(SCRIPTS, "unreadable.wast"), join(directory, "unreadable.wast"));
    const { code, output } = await run([directory]);
    await rm(directory, { recursive: true });
    assert.equal(code, 1, output);
    assert.ok(output.endsWith("result: FAILED: nothing could be run\n"), output);
  });

  test("fail when no test could be run", async () => {
    assert.equal((await run([])).code, 2);
    assert.equal((await run([`${SCRIPTS}/nowhere`])).code, 2);
    assert.equal((await run([fileURLToPath(new URL("../../docs/guides", import.meta.url))])).code, 2);
  });
});

suite("detects a meter that changes a module", () => {
  const add = command("assert_return", "add", [["i32", "7"]]);

  test("by a value that the suite must allow", () => {
    assert.equal(judge(add, {}).kind, "passed");
    assert.equal(judge(add, { replace: [7, 8] }).kind, "different");
    assert.equal(judge(command("action", "add", [["i32", undefined]]), { replace: [7, 8] }).kind, "different");
    assert.equal(judge(command("assert_return", "add", [["i32", "9"]]), {}).kind, "alike");
  });

  test("by a NaN that is not the canonical one, unless any is allowed", () => {
    const nan = (wanted: string | undefined) =>
      command(wanted === undefined ? "action" : "assert_return", "nan", [["f32", wanted]]);
    assert.equal(judge(nan("nan:arithmetic"), {}).kind, "passed");
    assert.equal(judge(nan(undefined), {}).kind, "passed");
    assert.equal(judge(nan("nan:canonical"), {}).kind, "alike");
    // A quiet NaN with a payload becomes the canonical one, then one of another payload.
    assert.equal(judge(nan(undefined), { replace: [0x7fc0_0001, 0x7fc0_0000] }).kind, "passed");
    assert.equal(judge(nan(undefined), { replace: [0x7fc0_0001, 0x7fc0_0002] }).kind, "different");
    assert.equal(judge(nan(String(0x7fc0_0001)), { replace: [0x7fc0_0001, 0x7fc0_0000] }).kind, "different");
  });

  test("by a trap that is unexpected, missing, or has another cause", () => {
    assert.equal(judge(command("assert_trap", "trap", []), {}).kind, "passed");
    assert.equal(judge(add, { fault: new WebAssembly.RuntimeError("unreachable") }).kind, "different");
    assert.equal(
      judge(command("assert_trap", "trap", []), { fault: new WebAssembly.RuntimeError("other") }).kind,
      "different",
    );
    assert.equal(
      judge(command("assert_trap", "trap", []), { fault: new RangeError("Maximum call stack size") }).kind,
      "different",
    );
  });
});

interface Damage {
  /** A number that a constant of the module becomes, behind the back of everybody. */
  readonly replace?: readonly [from: number, to: number];
  /** What every call throws. */
  readonly fault?: Error;
}

/** One command in a plain world and one where the meter is damaged. */
function judge(what: ScriptCommand, { replace, fault }: Damage) {
  const metered = createMeteredEngine();
  const damaged: Engine = {
    ...metered,
    load: (bytes, imports) => metered.load(replace === undefined ? bytes : replaced(bytes, replace), imports),
    beforeCall: () => {
      if (fault !== undefined && isReady) throw fault;
      metered.beforeCall();
    },
  };
  let isReady = false;
  const worlds = { plain: new World(createPlainEngine(), EMPTY), metered: new World(damaged, EMPTY) };
  const read = () => SMALL_MODULE;
  assert.equal(compareWorlds(worlds, { ...what, type: "module", filename: "small" }, read).kind, "passed");
  isReady = true;
  return compareWorlds(worlds, what, read);
}

const EMPTY = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
const SMALL_MODULE = new Uint8Array(
  execFileSync("wat2wasm", ["-", "--output=-"], {
    input: `(module (func (export "add") (result i32) (i32.const 7))
      (func (export "nan") (result f32) (f32.const nan:0x400001)) (func (export "trap") unreachable))`,
  }),
);

function replaced(bytes: Uint8Array, [from, to]: readonly [number, number]): Uint8Array {
  const encode = (value: number) => (value < 64 ? [0x41, value] : [...new Uint8Array(new Uint32Array([value]).buffer)]);
  const [wanted, instead] = [encode(from), encode(to)];
  const copy = bytes.slice();
  const at = copy.findIndex((_, index) => wanted.every((byte, offset) => copy[index + offset] === byte));
  assert.ok(at > 0, "the constant is not there");
  copy.set(instead, at);
  return copy;
}

function command(
  type: string,
  field: string,
  expected: readonly (readonly [type: string, value: string | undefined])[],
): ScriptCommand {
  return {
    type,
    line: 1,
    filename: undefined,
    name: undefined,
    as: undefined,
    moduleType: undefined,
    action: { kind: "invoke", module: undefined, field, values: [] },
    expected: expected.map(([valueType, value]) => ({ type: valueType, value, laneType: undefined })),
  };
}

async function run(words: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const collect = (text: Buffer) => (output += text.toString());
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, output };
}
