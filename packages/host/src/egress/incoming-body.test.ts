import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { IncomingBody } from "./incoming-body.ts";

function openBody(): { body: IncomingBody; said: string[] } {
  const said: string[] = [];
  const body = new IncomingBody({
    pause: () => void said.push("pause"),
    resume: () => void said.push("resume"),
    giveUp: ({ message }) => void said.push(message),
  });
  return { body, said };
}

async function piecesOf(body: IncomingBody): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of body) pieces.push(piece.toString());
  return pieces;
}

describe("a body on its way in", () => {
  it("reports a broken transfer to current and later readers", async () => {
    const { body } = openBody();
    const waiting = body.next();
    body.finish(new Error("broken"));
    await assert.rejects(waiting, /broken/);
    await assert.rejects(body.next(), /broken/);
    const { body: other } = openBody();
    other.push(Buffer.from("first"));
    other.finish(new Error("broken"));
    await assert.rejects(other.next(), /broken/);
  });

  it("releases its readers and notifies its source once when abandoned", async () => {
    const { body, said } = openBody();
    const waiting = body.next();
    assert.deepEqual(await body.return(), { value: undefined, done: true });
    body.destroy();
    await assert.rejects(waiting, { code: "CANCELLED" });
    assert.deepEqual(said, ["the answer was given up"]);
    body.push(Buffer.from("late"));
    await assert.rejects(body.next(), { code: "CANCELLED" });
  });

  it("that is whole tells its source nothing when it is given up", () => {
    const { body, said } = openBody();
    body.push(Buffer.from("all"));
    body.finish();
    body.destroy();
    assert.deepEqual(said, []);
  });

  it("comes in its order to one who reads late, and to one who waits", async () => {
    const { body } = openBody();
    body.push(Buffer.from("a"));
    body.push(Buffer.from("b"));
    const read = piecesOf(body);
    await new Promise(setImmediate);
    body.push(Buffer.from("c"));
    body.finish();
    assert.deepEqual(await read, ["a", "b", "c"]);
  });

  it("applies back pressure until it is read", async () => {
    const { body, said } = openBody();
    for (let n = 0; n < 2; n++) body.push(Buffer.alloc(64 * 1024));
    assert.deepEqual(said, ["pause"]);
    await body.next();
    assert.deepEqual(said, ["pause", "resume"]);
  });
});
