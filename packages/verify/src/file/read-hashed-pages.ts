import { Worker } from "node:worker_threads";
import type { HashedPage } from "../ledger-source.ts";
import { unpackPage } from "./packed-page.ts";
import type { PageResponse, PagesThreadData } from "./page-messages.ts";

/** Maximum number of pages that may wait to be processed, which limits the memory that the other thread can fill. */
const PAGES_AHEAD = 4;

/** The rows of a records file with their hashes, read and computed by a separate thread. */
export async function* readHashedPages(path: string, from?: number): AsyncGenerator<HashedPage> {
  const workerData: PagesThreadData = { path, from };
  // Sources run directly; the published package runs the compiled files.
  const name = `./ledger-pages-thread${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`;
  const worker = new Worker(new URL(name, import.meta.url), { workerData, execArgv: [] });
  const answers: PageResponse[] = [];
  let wake: (() => void) | undefined;
  const take = (answer: PageResponse): void => {
    answers.push(answer);
    wake?.();
  };
  worker.on("message", take);
  worker.on("error", (fault: unknown) => take({ failure: String(fault) }));
  try {
    for (let asked = 0; asked < PAGES_AHEAD; asked++) worker.postMessage("next");
    for (;;) {
      const answer = answers.shift();
      if (answer === undefined) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      if ("end" in answer) return;
      if ("failure" in answer) throw new Error(answer.failure);
      worker.postMessage("next");
      yield "page" in answer ? unpackPage(answer.page) : { rows: [answer.odd], hashesOf: () => undefined };
    }
  } finally {
    await worker.terminate();
  }
}
