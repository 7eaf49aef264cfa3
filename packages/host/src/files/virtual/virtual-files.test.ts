import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { test } from "node:test";
import { blake3, toHex, utf8 } from "@narthex/contracts";
import type { FileChange, StoredFileTrace, ReplayContent } from "@narthex/kernel";
import { testWorkspaceFilesContract } from "@narthex/testkit";
import { createScratchWorkspace } from "../testing/scratch-workspace.ts";
import { createVirtualFiles } from "./create-virtual-files.ts";

const ABSENT: FileChange["before"] = { kind: "absent" };
const hashOf = (text: string): string => toHex(blake3(utf8(text)));

function contentIn(texts: readonly string[]): (hash: string) => Promise<ReplayContent | undefined> {
  return async (hash) => {
    const text = texts.find((known) => hashOf(known) === hash);
    const bytes = text === undefined ? undefined : Buffer.from(text);
    if (bytes === undefined) return undefined;
    return {
      size: bytes.length,
      async *stream(offset, limit) {
        yield bytes.subarray(offset, limit === 0 ? undefined : offset + limit);
      },
    };
  };
}

testWorkspaceFilesContract("a virtual tree", async (start, absent = []) => {
  const directories = new Set(
    Object.keys(start)
      .map((path) => dirname(path))
      .filter((path) => path !== "."),
  );
  const changed = [
    ...[...directories].map(
      (path): FileChange => ({ path, before: { kind: "directory", mode: 0o755 }, after: ABSENT }),
    ),
    ...Object.entries(start).map(
      ([path, text]): FileChange => ({
        path,
        before: { kind: "file", hash: hashOf(text), size: Buffer.byteLength(text), mode: 0o644 },
        after: ABSENT,
      }),
    ),
    ...absent.map((path): FileChange => ({ path, before: ABSENT, after: ABSENT })),
  ];
  const files = createVirtualFiles({ changed, read: [], resolvedLinks: [] }, contentIn(Object.values(start)));
  return { files, workspace: "/nowhere" };
});

testWorkspaceFilesContract("a worker in its sandbox", async (start) => {
  const scratch = await createScratchWorkspace();
  for (const [path, text] of Object.entries(start)) {
    await mkdir(dirname(scratch.at(path)), { recursive: true });
    await writeFile(scratch.at(path), text);
  }
  await scratch.own();
  return {
    files: scratch.files,
    workspace: scratch.workspace,
    close: async () => await scratch[Symbol.asyncDispose](),
  };
});

const record: StoredFileTrace = {
  changed: [],
  read: [
    { path: "real/a.txt", offset: 0, size: 5, hash: hashOf("begin"), of: 100 },
    { path: "real/a.txt", offset: 50, size: 3, hash: hashOf("mid"), of: 100 },
    { path: "gone.txt", offset: 0, size: 4, hash: hashOf("lost"), of: 4 },
  ],
  resolvedLinks: [{ named: "link/a.txt", opened: "real/a.txt" }],
};

async function read(path: string, offset: number, limit: number): Promise<string> {
  const files = createVirtualFiles(record, contentIn(["begin", "mid"]));
  const { signal } = new AbortController();
  const prepared = await files.prepare(
    { workspace: "/", access: "read" },
    { kind: "read", path, offset, limit },
    signal,
  );
  const answer = await prepared.commit();
  assert.ok(answer.kind === "read");
  const parts: Uint8Array[] = [];
  for await (const part of answer.content) parts.push(part);
  return Buffer.concat(parts).toString();
}

test("a call runs over what its record holds, and nothing of the machine is touched", async () => {
  assert.equal(await read("real/a.txt", 50, 3), "mid");
  assert.equal(await read("link/a.txt", 0, 5), "begin");
  // By its name it would be there on this machine.
  assert.ok(existsSync("/etc/passwd"));
  await assert.rejects(read("etc/passwd", 0, 0), { code: "FILE_NOT_FOUND" });
});

test("rejects reads that the record does not hold", async () => {
  for (const [path, offset, limit] of [
    ["real/a.txt", 0, 0],
    ["real/a.txt", 20, 5],
    ["gone.txt", 0, 0],
  ] as const) {
    await assert.rejects(read(path, offset, limit), { name: "ServedFromRecord", reason: "not_kept" });
  }
});

test("serves a read up to the recorded length when the reader stops there", async () => {
  const files = createVirtualFiles(record, contentIn(["begin"]));
  const operation = { kind: "read", path: "real/a.txt", offset: 0, limit: 0 } as const;
  const prepared = await files.prepare({ workspace: "/", access: "read" }, operation, new AbortController().signal);
  const answer = await prepared.commit();
  assert.ok(answer.kind === "read");
  for await (const part of answer.content) {
    assert.equal(Buffer.from(part).toString(), "begin");
    break;
  }
});

test("lists and searches are not answered", async () => {
  const files = createVirtualFiles(record, contentIn([]));
  const list = { kind: "list", path: ".", depth: 1, glob: undefined, hidden: true, limit: 9 } as const;
  for (const operation of [list, { kind: "inspect", path: "real/a.txt" } as const]) {
    const preparing = files.prepare({ workspace: "/", access: "read" }, operation, new AbortController().signal);
    await assert.rejects(preparing, { name: "ServedFromRecord", reason: "listing" });
  }
});
