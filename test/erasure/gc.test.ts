import assert from "node:assert/strict";
import { after, test } from "node:test";
import { toHex } from "@narthex/contracts";
import { codeOf, serveKernel } from "../attacks/served-kernel.ts";

const kernel = await serveKernel();
after(() => kernel.stop());
const { home, session } = kernel;
const collect = () => home.ask(["gc", "--max-bytes", "0"]);
/** Too much for a record: it lies in a file of its own. */
const contentOf = (number: number): string => `content ${number} `.repeat(20_000);

const put = async (sessionId: string, stdin: string): Promise<string> =>
  String((await home.ask(["cas", "put", "-", "--session", sessionId], 0, { stdin }))["hash"]);

test("collects only content of ended sessions, and nothing that is put or written meanwhile", async () => {
  const contents = Array.from({ length: 6 }, (_, number) => contentOf(number));
  const ended = await home.openSession();
  for (const content of contents) await put(ended.id, content);
  const lost = await put(ended.id, contentOf(99));
  await home.ask(["session", "close", ended.id]);

  const kept = new Map<string, string>();
  const again = async (): Promise<void> => {
    for (const content of contents) kept.set(await put(session.id, content), content);
  };
  const anew = async (): Promise<void> => {
    for (const number of contents.keys()) {
      const input = JSON.stringify(contentOf(100 + number));
      const response = await kernel.call("echo", input);
      assert.ok(response.result.case === "success", codeOf(response));
      kept.set(toHex(response.result.value.resultHash), input);
    }
  };
  const collectOften = async (): Promise<void> => {
    for (const _ of contents) await collect();
  };
  await Promise.all([again(), anew(), collectOften()]);
  await collect();

  for (const [hash, content] of kept) assert.equal((await home.run(["cas", "get", hash])).stdout, content);
  await home.ask(["cas", "get", lost], 1);
});

test("the ledger is sound afterwards, with all content that it refers to", () => kernel.assertSound());
