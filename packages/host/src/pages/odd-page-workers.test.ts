import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createPageReader } from "./create-page-reader.ts";
import type { PageProcess } from "./page-worker-process.ts";
import { page, signal } from "./testing/read-fixture.ts";
import { startProgram } from "./testing/start-program.ts";

const ODD_WORKER = fileURLToPath(new URL("./testing/odd-page-worker.ts", import.meta.url));

describe("a page worker that was taken over", { concurrency: 2 }, () => {
  for (const oddity of [
    "no-ready",
    "other-format",
    "other-charset",
    "unnamed-charset",
    "long-title",
    "title-of-numbers",
    "no-utf-8",
    "own-words",
    "ready-again",
    "array",
    "unasked",
    "long-header",
    "no-frame",
    "huge-frame",
    "dies",
  ]) {
    it(`is ended, and the page fails, when it comes with ${oddity}`, async () => {
      const { reader, started } = openOdd(oddity);
      await assert.rejects(reader.read(page("<p>x"), signal()), (fault: Error & { code?: string }) => {
        assert.equal(fault.code, "SANDBOX_ERROR");
        assert.doesNotMatch(fault.message, /ignore/);
        return true;
      });
      await Promise.all(started.map(({ ended }) => ended));
      await reader.close();
    });
  }

  it("is killed when it responds twice, and the second response is dropped", async () => {
    const { reader, started } = openOdd("twice");
    assert.equal((await reader.read(page("<p>x"), signal())).text, "first");
    await started[0]?.ended;
    assert.equal((await reader.read(page("<p>y"), signal())).text, "first");
    assert.equal(started.length, 2);
    await reader.close();
  });
});

function openOdd(oddity: string) {
  const started: PageProcess[] = [];
  const start = (): Promise<PageProcess> => {
    const worker = startProgram([ODD_WORKER, oddity]);
    started.push(worker);
    return Promise.resolve(worker);
  };
  const containment = (): Promise<never> => Promise.reject(new Error("nothing is contained here"));
  return { reader: createPageReader({ containment, start }), started };
}
