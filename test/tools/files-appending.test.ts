import assert from "node:assert/strict";
import { readlink, symlink } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { createFileKernel, type FileKernel } from "./file-kernel.ts";

describe("concurrent appends to one file", { timeout: 120_000 }, () => {
  let at: FileKernel;
  before(async () => {
    at = await createFileKernel();
  });
  after(() => at[Symbol.asyncDispose]());

  it("from several sessions and through a link each add their line exactly once", async () => {
    await at.put("busy", "");
    await symlink("busy", at.at("busy-link"));
    await at.own();
    const others = await Promise.all([1, 2, 3].map(() => at.kernel.session({ workspace: at.workspace })));
    const writers = [at.session, ...others].map(async (session, writer) => {
      for (let turn = 0; turn < 10; turn++) {
        const lines = [0, 1].map((part) => `${writer} ${turn} ${part}`);
        const results = await Promise.all(
          lines.map((line, part) =>
            session.call("file_write", { path: part === 0 ? "busy" : "busy-link", content: `${line}\n`, append: true }),
          ),
        );
        assert.deepEqual(new Set(results.map(({ status }) => status)), new Set(["success"]));
      }
    });
    await Promise.all(writers);
    const lines = (await at.text("busy")).split("\n").slice(0, -1);
    assert.deepEqual([lines.length, new Set(lines).size], [80, 80]);
    assert.equal(await readlink(at.at("busy-link")), "busy");
  });

  it("continue when one that waits is cancelled, which changes nothing", async () => {
    await at.put("queued", "");
    const controllers = Array.from({ length: 12 }, () => new AbortController());
    const calls = controllers.map(({ signal }, index) =>
      at.session.call("file_write", { path: "queued", content: `${index}\n`, append: true }, { signal }),
    );
    for (const controller of controllers.filter((_, index) => index % 2 === 1)) controller.abort();
    const results = await Promise.all(calls);
    const numbersOf = (isMeant: (result: (typeof results)[number]) => boolean): string[] =>
      results.flatMap((result, index) => (isMeant(result) ? [String(index)] : []));
    const written = numbersOf(({ status }) => status === "success");
    // One that was at its turn when it was cancelled says that it may have been written.
    const possible = numbersOf(({ response: { result } }) => result.case === "error" && result.value.effectsPossible);
    const lines = (await at.text("queued")).split("\n").slice(0, -1);
    assert.equal(new Set(lines).size, lines.length);
    assert.deepEqual(new Set(lines).union(new Set(possible)), new Set([...written, ...possible]));
    assert.ok(written.length >= 6);
  });
});
