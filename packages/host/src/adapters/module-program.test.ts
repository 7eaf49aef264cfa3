import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { moduleContents } from "./module-program.ts";

const run = promisify(execFile);

test("the runner's text stands by itself: it runs from a file that holds nothing else", async () => {
  const directory = await mkdtemp(join(tmpdir(), "narthex-runner-"));
  try {
    const [runner] = moduleContents("/opt/tool");
    const text = Buffer.from(runner?.bytes ?? "").toString();
    assert.doesNotMatch(text, /import\(\s*["'`]/, "a bundler would change it");
    await writeFile(join(directory, "runner.mjs"), text);
    const module = `import { defineTool } from "narthex";
      export const one = defineTool({ name: "one", description: "d", inputSchema: true, run: () => 1 });`;
    await writeFile(join(directory, "tools.mjs"), module);
    const { stdout } = await run(process.execPath, [
      join(directory, "runner.mjs"),
      join(directory, "tools.mjs"),
      "describe",
    ]);
    assert.deepEqual(JSON.parse(stdout), [
      {
        version: "1.0.0",
        effects: [],
        determinism: "nondeterministic",
        tier: "side_effecting",
        name: "one",
        description: "d",
        input_schema: true,
        bounds: {},
      },
    ]);
  } finally {
    await rm(directory, { recursive: true });
  }
});
