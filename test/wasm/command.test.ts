import assert from "node:assert/strict";
import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import {
  hiddenLoop,
  manySections,
  manyTyped,
  overlongBlock,
} from "../../packages/meter/src/testing/misread-modules.ts";
import { createHostedHome, objectOf, type TestHome, textOf } from "../cli/home.ts";
import { assemble } from "./wasm-home.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/wasm/", import.meta.url));

describe("modules on the command line", { timeout: 300_000 }, () => {
  let at: TestHome;
  let session: string;
  before(async () => {
    at = await createHostedHome();
  });
  after(() => at.remove());

  it("are added with their declaration, and shown with their capabilities", async () => {
    const { tools } = await at.ask(["tools", "add", join(EXAMPLES, "wat", "checksum.wasm")]);
    const [added] = tools as { tool: string; source: string; files: { path: string }[]; program_hash: string }[];
    assert.deepEqual([added?.tool, added?.source], ["wasm_checksum@1.0.0", "wasm"]);
    assert.deepEqual(
      added?.files.map(({ path }) => path),
      ["checksum.wasm"],
    );
    assert.match(added?.program_hash ?? "", /^[0-9a-f]{64}$/);
    const shown = await at.run(["tools", "show", "wasm_checksum"]);
    assert.match(shown.stdout, /^source +wasm, runs wasm$/m);
    assert.match(shown.stdout, /^fuel +10000000000$/m);
    session = (await at.openSession()).id;
  });

  it("run under the default policy without effects, twice with the same result and the same fuel", async () => {
    const hashes = new Set<unknown>();
    for (const request of ["one", "two"]) {
      const words = ["call", "wasm_checksum", '"hello"', "--session", session, "--request-id", request];
      const answer = await at.ask(words);
      assert.equal(answer["result"], 156_369_497);
      hashes.add(answer["result_hash"]);
    }
    assert.equal(hashes.size, 1);
    const { stdout } = await at.run(["ledger", "list", "--json", "--limit", "1000"]);
    const fuels = stdout.match(/"fuel_used":\d+/g) ?? [];
    assert.equal(fuels.length, 2);
    assert.equal(new Set(fuels).size, 1);
    assert.match(stdout, /"host_calls":\[\{"name":"log","calls":1,"request_bytes":8,"answer_bytes":0\}\]/);
    assert.equal((await at.run(["ledger", "verify"])).code, 0);
  });

  it("are rejected inside the workspace of an open session", async () => {
    const folder = join(at.workspace, "tools");
    await mkdir(folder);
    await copyFile(join(EXAMPLES, "rust", "dice.wasm"), join(folder, "dice.wasm"));
    const finished = await at.run(["tools", "add", join(folder, "dice.wasm")]);
    assert.notEqual(finished.code, 0);
    assert.match(finished.stderr, /lies in the workspace of an open session/);
  });

  it("are rejected with the reason if they cannot be limited", async () => {
    const file = join(at.root, "broken.wasm");
    await copyFile(join(EXAMPLES, "wat", "checksum.wat"), file);
    const finished = await at.run(["tools", "add", file]);
    assert.notEqual(finished.code, 0);
    assert.match(finished.stderr, /`broken.wasm` is rejected \(not-a-module\)/);
  });

  it("are rejected if they hide instructions, or use much before a call is charged", async () => {
    const exported = Array.from({ length: 10_001 }, (_, index) => `(export "${index}" (func $f))`).join("");
    const filling = `(elem (i32.const 0) func ${"$f ".repeat(5000)})`.repeat(21);
    const hostile: readonly (readonly [module: Uint8Array, reason: string])[] = [
      [hiddenLoop({ isReached: true }), "function-references"],
      [hiddenLoop({ isReached: false }), "function-references"],
      [overlongBlock(), "invalid"],
      [manyTyped({ types: 100_001, body: [] }), "too-many-parts"],
      [manySections(100_000), "too-many-parts"],
      [await assemble(`(module (func $f) ${exported})`), "too-many-parts"],
      [await assemble("(module (table 10000000 funcref))"), "table-above-cap"],
      [await assemble(`(module ${"(table 1 funcref)".repeat(11)})`, "--enable-all"), "too-many-tables"],
      [await assemble(`(module (table 5000 funcref) (func $f) ${filling})`), "table-above-cap"],
    ];
    const added = await readdir(join(at.home, "tools"));
    const file = join(at.root, "hostile", "tool.wasm");
    await mkdir(join(at.root, "hostile"));
    await copyFile(join(EXAMPLES, "wat", "checksum.json"), join(at.root, "hostile", "tool.json"));
    for (const [module, reason] of hostile) {
      await writeFile(file, module);
      const { code, message } = objectOf((await at.ask(["tools", "add", file], 1))["error"]);
      assert.equal(code, "INVALID_DECLARATION");
      assert.match(textOf(message), new RegExp(`is rejected \\(${reason}\\)`));
    }
    assert.deepEqual(await readdir(join(at.home, "tools")), added);
    assert.equal((await at.ask(["call", "wasm_checksum", '"hello"', "--session", session]))["result"], 156_369_497);
    assert.equal((await at.ask(["ledger", "verify"]))["intact"], true);
  });
});
