import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { blake3, type JsonObject, toHex, utf8 } from "@narthex/contracts";
import { createKernel } from "narthex";
import { createHostedHome, objectOf, type TestHome, textOf } from "../cli/home.ts";
import { findLeft } from "./left-bytes.ts";

const SECRET = "the customer's number is 4711-0815-ABCDEFGH";
const INPUT = `{"text":"${SECRET}"}`;
const LARGE = `${SECRET} `.repeat(3000);
const WHY = ["--reason", "the customer asked", "--by", "ada"];

describe("narthex erase", { timeout: 240_000 }, () => {
  let at: TestHome;
  before(async () => {
    at = await createHostedHome();
  });
  after(() => at.remove());

  /** All that could be found of a call and its input by somebody with the disk. */
  const traces = (...texts: string[]): Record<string, Uint8Array | string> =>
    Object.fromEntries(
      [SECRET, ...texts.map((text) => toHex(blake3(utf8(text))))].flatMap((text) => [
        [text.slice(0, 12), text],
        [`${text.slice(0, 12)} as bytes`, Buffer.from(text, "hex").length === 32 ? Buffer.from(text, "hex") : text],
      ]),
    );
  const verify = async (): Promise<JsonObject> => at.ask(["ledger", "verify"]);

  it("prints its usage, and rejects an invalid hash", async () => {
    const noReason = await at.ask(["erase", "00".repeat(32)], 2);
    assert.match(textOf(objectOf(noReason["error"])["message"]), /--reason/);
    await at.ask(["erase", "xyz", ...WHY], 2);
    const unknown = await at.ask(["erase", "00".repeat(32), ...WHY], 1);
    assert.equal(objectOf(unknown["error"])["code"], "CONTENT_NOT_FOUND");
  });

  it("removes content from every file of the home, with a running kernel", async () => {
    const serving = await at.serve();
    const { id } = await at.openSession();
    const call = (text: string): Promise<JsonObject> =>
      at.ask(["call", "echo", JSON.stringify({ text }), "--session", id, "--request-id", text.slice(0, 3)]);
    await call("before");
    const done = await call(SECRET);
    await call("after");
    const put = await at.ask(["cas", "put", "-", "--session", id], 0, { stdin: LARGE });
    assert.notDeepEqual(await findLeft(at.home, traces(INPUT, LARGE)), []);

    const dry = await at.ask(["erase", textOf(done["result_hash"]), ...WHY, "--dry-run"]);
    assert.equal(dry["dry_run"], true);
    const erased = await at.ask(["erase", textOf(done["result_hash"]), textOf(put["hash"]), ...WHY]);
    assert.deepEqual([erased["items"], erased["files"]], [6, 1]);
    // While it runs, with its logs open.
    assert.deepEqual(await findLeft(at.home, traces(INPUT, LARGE)), []);
    const report = await verify();
    assert.deepEqual([report["intact"], report["complete"], report["erased_items"]], [true, true, 6]);

    const [index] = erased["record_indexes"] as number[];
    const { stdout } = await at.run(["ledger", "show", String(index)]);
    assert.match(stdout, /the customer asked/);
    const gone = await at.ask(["cas", "get", textOf(done["result_hash"])], 1);
    assert.match(textOf(objectOf(gone["error"])["message"]), /was erased|never was|no content with that hash/);
    const again = await at.ask(["cas", "put", "-", "--session", id], 0, { stdin: LARGE });
    assert.equal(again["hash"], put["hash"]);
    assert.equal((await at.run(["cas", "get", textOf(put["hash"])])).stdout, LARGE);
    await at.ask(["erase", textOf(put["hash"]), ...WHY]);
    await serving.stop();
    assert.deepEqual(await findLeft(at.home, traces(INPUT, LARGE)), []);
  });

  it("erases an ended session without a running kernel", async () => {
    const { id } = await at.openSession();
    const input = `{"text":"${SECRET} of a session"}`;
    const requests = ["r1", "r2", "r3"];
    for (const request of requests) await at.ask(["call", "echo", input, "--session", id, "--request-id", request]);
    assert.equal(objectOf((await at.ask(["erase", "--session", id, ...WHY], 1))["error"])["code"], "CONTENT_IN_USE");
    await at.ask(["session", "close", id]);
    const erased = await at.ask(["erase", "--session", id, ...WHY], 0, { ownProcess: true });
    assert.equal(erased["items"], 5 * requests.length);
    assert.deepEqual(await findLeft(at.home, traces(input)), []);
    assert.equal((await verify())["intact"], true);
  });

  it("leaves no trace in database pages that were merged before", async () => {
    const kernel = await createKernel({ data: at.home });
    const session = await kernel.session({ workspace: at.workspace });
    const inputs = Array.from({ length: 120 }, (_, number) => ({
      text: `${SECRET} ${number} ${"x".repeat(number * 40)}`,
    }));
    for (const input of inputs) await session.call("echo", input);
    const hashes = inputs.map((input) => blake3(utf8(JSON.stringify(input))));
    // Every second one first: neighbours on a page move together and may leave copies.
    const erase = (which: readonly Uint8Array[]) =>
      kernel.erase({ hashes: which, sessionIds: [], reason: "all", by: "ada", dryRun: false });
    await erase(hashes.filter((_, number) => number % 2 === 0));
    for (const hash of hashes.filter((_, number) => number % 6 === 1)) await erase([hash]);
    await erase(hashes.filter((_, number) => number % 2 === 1 && number % 6 !== 1));
    const needles = Object.fromEntries(hashes.map((hash, number) => [`hash ${number}`, hash]));
    assert.deepEqual(await findLeft(at.home, { ...needles, secret: SECRET }), []);
    await kernel.close();
    assert.equal((await verify())["intact"], true);
  });
});
