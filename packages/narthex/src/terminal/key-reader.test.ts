import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { openKeyReader } from "./key-reader.ts";

/** With these keys pressed while it is opened. */
async function keyboard(early = "") {
  const source = Object.assign(new EventEmitter(), {
    isRaw: false,
    setRawMode(isRaw: boolean) {
      source.isRaw = isRaw;
    },
    resume: () => undefined,
    pause: () => undefined,
  });
  const type = (text: string): boolean => source.emit("data", Buffer.from(text));
  const opening = openKeyReader(source);
  type(early);
  return { source, type, reader: await opening };
}

const never = new AbortController().signal;

test("ignores typed-ahead, pasted and escape-sequence input", async () => {
  const { type, reader } = await keyboard("o");
  type("o");
  const key = reader.next(never);
  type("oo");
  type("yes");
  type("\u001b[A");
  type("\n");
  type("é");
  type("d");
  assert.equal(await key, "d");
});

test("stops waiting for a closed request, and the end of input ends every wait", async () => {
  const { source, reader } = await keyboard();
  const stop = new AbortController();
  const key = reader.next(stop.signal);
  stop.abort();
  await assert.rejects(key, /no longer asked/);
  const other = reader.next(never);
  source.emit("end");
  await assert.rejects(other, /nobody/);
  await assert.rejects(reader.next(never), /nobody/);
});

test("restores the terminal afterwards", async () => {
  const { source, reader } = await keyboard();
  assert.equal(source.isRaw, true);
  reader.close();
  assert.equal(source.isRaw, false);
  assert.equal(source.listenerCount("data"), 0);
});
