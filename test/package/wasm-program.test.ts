import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startProgram } from "../../packages/host/src/pages/testing/start-program.ts";
import { createWasmRunner } from "../../packages/host/src/wasm/create-wasm-runner.ts";
import { callOf, MODULE, signal } from "../../packages/host/src/wasm/testing/wasm-fixture.ts";
import { writeWasmProgram } from "../../scripts/build/write-wasm-program.ts";

describe("the published program of wasm hosts", () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "narthex-wasm-program-"));
    await writeWasmProgram(directory);
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it("is one file that meters and runs modules without other files", async () => {
    const folder = join(directory, "wasm-host");
    assert.deepEqual(await readdir(folder), ["wasm-host.mjs"]);
    const runner = createWasmRunner({
      containment: () => Promise.reject(new Error("nothing is contained here")),
      start: () => Promise.resolve(startProgram(["--disallow-code-generation-from-strings", "wasm-host.mjs"], folder)),
    });
    const { ending, usage } = await runner.run(callOf(MODULE), () => Promise.resolve(new Uint8Array(0)), signal());
    await runner.close();
    assert.equal(ending.kind === "answered" && Buffer.from(ending.output).toString(), "0");
    assert.ok((usage?.fuel ?? 0) > 0);
  });
});
