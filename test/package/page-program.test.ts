import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createPageReader } from "../../packages/host/src/pages/create-page-reader.ts";
import { ARTICLE, page, signal } from "../../packages/host/src/pages/testing/read-fixture.ts";
import { startProgram } from "../../packages/host/src/pages/testing/start-program.ts";
import { thirdPartyNotices } from "../../scripts/build/third-party-notices.ts";
import { writePageProgram } from "../../scripts/build/write-page-program.ts";

describe("the published program of page workers", () => {
  let directory: string;
  let wentIn: readonly string[];
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "narthex-page-program-"));
    wentIn = await writePageProgram(directory);
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it("is one file that reads pages without other files", async () => {
    const folder = join(directory, "page-worker");
    assert.deepEqual(await readdir(folder), ["page-worker.mjs"]);
    const reader = createPageReader({
      containment: () => Promise.reject(new Error("nothing is contained here")),
      start: () =>
        Promise.resolve(startProgram(["--disallow-code-generation-from-strings", "page-worker.mjs"], folder)),
      bounds: { pageMs: 60_000 },
    });
    const { text, title } = await reader.read(page(ARTICLE, { extent: "main" }), signal());
    await reader.close();
    assert.equal(title, "The gate & its rules");
    assert.match(text, /^## Addresses$/m);
    assert.doesNotMatch(text, /hidden-by|navigation-word/);
  });

  it("names the licenses of its code, including its libraries' dependencies", () => {
    const notices = thirdPartyNotices(wentIn);
    for (const name of ["defuddle", "linkedom", "htmlparser2", "css-select", "entities", "cssom"]) {
      assert.match(notices, new RegExp(`^${name} \\d`, "m"));
    }
  });
});
