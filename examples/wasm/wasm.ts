import assert from "node:assert/strict";
import { execFileSync as run } from "node:child_process";
import { chmodSync as changeMode, mkdtempSync as makeDirectory, rmSync as remove, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createKernel } from "narthex";

// Three modules, of C, Rust and WAT, added to a kernel's home as `narthex tools add` does it, and then called.
const command = fileURLToPath(new URL("../bin/narthex.js", import.meta.resolve("narthex")));
const data = makeDirectory("/tmp/narthex-home-");
const workspace = makeDirectory("/tmp/workspace-");
writeFileSync(join(workspace, "notes.txt"), "one two\nthree\n");
changeMode(workspace, 0o755);

// `checksum.json` lies beside its module; the others carry their declaration.
for (const module of ["c/word_count.wasm", "rust/dice.wasm", "wat/checksum.wasm"]) {
  run(process.execPath, [command, "tools", "add", join(import.meta.dirname, module), "--allow", "--data", data]);
}

const kernel = await createKernel({ data });
const open = { workspace, seed: new Uint8Array(32) };
const session = await kernel.session(open);
const counted = await session.call("wasm_word_count", { path: "notes.txt" });
assert.deepEqual(counted.raw, { bytes: 14, lines: 2, words: 3 });
const missing = await session.call("wasm_word_count", { path: "nothing.txt" });
assert.equal(missing.response.result.case, "error");
const checksum = await session.call("wasm_checksum", "hello");
assert.equal(checksum.raw, 156_369_497);

// Another session with the same seed throws the same dice in its fourth call.
const thrown = await session.call("wasm_dice", { count: 5 });
const again = await kernel.session(open);
for (let calls = 0; calls < 3; calls++) await again.call("wasm_checksum", calls);
assert.deepEqual((await again.call("wasm_dice", { count: 5 })).raw, thrown.raw);
await kernel.close();
for (const directory of [data, workspace]) remove(directory, { recursive: true });
