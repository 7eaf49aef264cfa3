import assert from "node:assert/strict";
import { execFileSync as run } from "node:child_process";
import { chmodSync as changeMode, mkdtempSync as makeDirectory, rmSync as remove, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createKernel } from "narthex";

// Three tools in three languages, added to a kernel's home as `narthex tools add` does it, and then called.
const command = fileURLToPath(new URL("../bin/narthex.js", import.meta.resolve("narthex")));
const data = makeDirectory("/tmp/narthex-home-");
const workspace = makeDirectory("/tmp/workspace-");
writeFileSync(join(workspace, "notes.txt"), "twelve bytes");
changeMode(workspace, 0o755);

for (const tool of ["python/tool.yaml", "bash/tool.json", "typescript/text-tools.ts"]) {
  run(process.execPath, [command, "tools", "add", join(import.meta.dirname, tool), "--allow", "--data", data]);
}

const kernel = await createKernel({ data });
const session = await kernel.session({ workspace });
const counted = await session.callTool("word_count", { text: "to be or not to be" });
assert.deepEqual(counted.value, { words: 6, most_frequent: ["be", "to", "not"] });
const largest = await session.callTool("largest_files", {});
assert.deepEqual(largest.value, [{ path: "notes.txt", size: 12 }]);
const slug = await session.callTool("slugify", { text: "A Tool Kernel" });
assert.equal(slug.value, "a-tool-kernel");
await kernel.close();
for (const directory of [data, workspace]) remove(directory, { recursive: true });
