import assert from "node:assert/strict";
import { test } from "node:test";
import {
  makeTool,
  streaming,
  errorOf,
  call,
  openOn,
  turn,
  throwing,
  slowFiles,
  countingFiles,
} from "./testing/hostile-tool.ts";

test("tells a stream's tool to stop, whatever ended its stream", async () => {
  const ends: Readonly<Record<string, () => Parameters<typeof streaming>>> = {
    INVALID_OUTPUT: () => [
      async function* () {
        yield "text";
      },
    ],
    TIMEOUT: () => [
      async function* () {
        for (;;) {
          yield Buffer.from("x");
          await turn();
        }
      },
      { bounds: { timeoutMs: 20, maxOutputBytes: 9 } },
    ],
  };
  for (const [code, made] of Object.entries(ends)) {
    const [chunks, extra] = made();
    const returned = Promise.withResolvers<void>();
    const wrapped = () => {
      const iterator = chunks()[Symbol.asyncIterator]();
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => iterator.next(),
          return: async () => {
            returned.resolve();
            throw new Error("will not");
          },
        }),
      };
    };
    assert.equal(errorOf(await call(streaming(wrapped, extra))).errorCode, code);
    await returned.promise;
  }
});

test("a stream that always has more ready ends at its time-out", async () => {
  const bounds = { timeoutMs: 30, maxOutputBytes: 9 };
  for (const chunk of [Buffer.from("x"), new Uint8Array(0)]) {
    const endless = streaming(
      async function* () {
        for (;;) yield chunk;
      },
      { bounds },
    );
    assert.equal(errorOf(await call(endless)).errorCode, "TIMEOUT");
  }
});

test("a reader that never takes a chunk does not hold the call past its time-out", async () => {
  const two = streaming(
    async function* () {
      yield Buffer.from("one");
      yield Buffer.from("two");
    },
    { bounds: { timeoutMs: 20, maxOutputBytes: 9 } },
  );
  assert.equal(errorOf(await call(two, { onChunk: () => new Promise(() => undefined) })).errorCode, "TIMEOUT");
});

test("a reader that fails gets no more chunks, and the call goes on", async () => {
  const two = streaming(async function* () {
    yield Buffer.from("one ");
    yield Buffer.from("two");
  });
  for (const fail of [() => throwing(new Error("gone")), () => Promise.reject(new Error("gone"))]) {
    let heard = 0;
    const onChunk = () => {
      heard++;
      return fail();
    };
    assert.equal(Buffer.from((await call(two, { onChunk })).normalised ?? []).toString(), "one two");
    assert.equal(heard, 1);
  }
});

test("checks a stream of any size against its schema, and keeps nothing of a rejected one", async () => {
  const outputSchema = { type: "string", pattern: "^x*$" };
  const sizes: readonly [number, string, string][] = [
    [10, "x", "success"],
    [10, "y", "INVALID_OUTPUT"],
    [10, "\xff", "INVALID_OUTPUT"],
    [200_000, "x", "success"],
    [200_000, "y", "INVALID_OUTPUT"],
    [2_000_000, "x", "INVALID_OUTPUT"],
  ];
  for (const [size, text, expected] of sizes) {
    const files = countingFiles();
    const tool = streaming(
      async function* () {
        for (let sent = 0; sent < size; sent += 10_000) yield Buffer.alloc(Math.min(10_000, size), text, "latin1");
      },
      { outputSchema },
    );
    const { session } = await openOn(tool, files.store);
    const { response } = await session.call("tool", {});
    const code = response.result.case === "error" ? response.result.value.errorCode : response.result.case;
    assert.equal(code, expected, `${size} ${text}`);
    if (expected !== "success") assert.equal(files.committed(), 0);
    assert.equal(files.open(), 0);
  }
});

test("rejects a stream without reading it if the tool declared none", async () => {
  let read = 0;
  const chunks = async function* () {
    read++;
    yield Buffer.from("x");
  };
  for (const resultType of ["json", "binary", "string"] as const) {
    const normalise = resultType === "json" ? "json" : "binary";
    assert.equal(errorOf(await call(makeTool(chunks, { resultType, normalise }))).errorCode, "INVALID_OUTPUT");
  }
  assert.equal(read, 0);
});

test("keeps a chunk unchanged when its tool overwrites it during storage", async () => {
  const chunk = Buffer.alloc(100_000, "a");
  const tool = streaming(async function* () {
    yield chunk;
    chunk.fill("b");
    yield chunk;
  });
  const { session, kernel } = await openOn(
    tool,
    slowFiles(() => chunk.fill("c")),
  );
  const { hash } = await session.call("tool", {});
  const { chunks } = await kernel.getContent(session.id, hash ?? assert.fail(), 0, 0);
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  const whole = Buffer.concat(parts);
  assert.ok(whole.equals(Buffer.concat([Buffer.alloc(100_000, "a"), Buffer.alloc(100_000, "b")])));
});
