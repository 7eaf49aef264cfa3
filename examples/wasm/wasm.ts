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
const counted = await session.callTool("wasm_word_count", { path: "notes.txt" });
assert.deepEqual(counted.value, { bytes: 14, lines: 2, words: 3 });
const missing = await session.callTool("wasm_word_count", { path: "nothing.txt" });
assert.equal(missing.status, "error");
const checksum = await session.callTool("wasm_checksum", "hello");
assert.equal(checksum.value, 156_369_497);

// Another session with the same seed throws the same dice in its fourth call.
const thrown = await session.callTool("wasm_dice", { count: 5 });
const again = await kernel.session(open);
for (let calls = 0; calls < 3; calls++) await again.callTool("wasm_checksum", calls);
assert.deepEqual((await again.callTool("wasm_dice", { count: 5 })).value, thrown.value);
await kernel.close();
for (const directory of [data, workspace]) remove(directory, { recursive: true });
