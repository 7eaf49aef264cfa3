import { parentPort, workerData } from "node:worker_threads";
import { BatchHasher } from "../hash/batch-hasher.ts";
import { hashRows } from "../hash/hash-pages.ts";
import { openLedgerFile } from "./open-ledger-file.ts";
import { packPage } from "./packed-page.ts";
import type { PageResponse, PagesThreadData } from "./page-messages.ts";

const { path, from } = workerData as PagesThreadData;
const port = parentPort;
if (port === null) throw new TypeError("the reader of a ledger's pages must be started as a thread");

const responses = readResponses();
port.on("message", () => {
  const next = responses.next();
  const answer: PageResponse = next.done === true ? { end: true } : next.value;
  if ("page" in answer) port.postMessage(answer, [answer.page.bytes.buffer, answer.page.numbers.buffer]);
  else port.postMessage(answer);
});

function* readResponses(): Generator<PageResponse> {
  try {
    const file = openLedgerFile(path);
    const hasher = new BatchHasher();
    for (const page of file.pages(from)) {
      for (const { rows, hashesOf } of hashRows(page, hasher)) {
        const [odd] = rows;
        if (hashesOf(0) === undefined && odd !== undefined) yield { odd };
        else yield { page: packPage(rows, hasher) };
      }
    }
    file.close();
  } catch (fault) {
    yield { failure: String(fault) };
  }
}
