import assert from "node:assert/strict";
import { chown, mkdir, readdir, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { FileWorker } from "./file-worker.ts";
import {
  assertFails,
  change,
  edit,
  fileState,
  inspect,
  list,
  move,
  read,
  readText,
  remove,
  runAs,
  stateAt,
  write,
} from "./testing/file-operations.ts";
import { createScratchWorkspace, type ScratchWorkspace, TEST_USER } from "./testing/scratch-workspace.ts";

const MB = 1024 * 1024;

describe("the life of a file worker", () => {
  it("is shared by all who use the same workspace in the same way", async () => {
    await using scratch = await createScratchWorkspace();
    assert.equal(scratch.files.workers.length, 0);
    await Promise.all(Array.from({ length: 300 }, (_, number) => scratch.run(write(`file-${number}`, String(number)))));
    assert.equal(scratch.files.workers.length, 1);
    const texts = await Promise.all(Array.from({ length: 300 }, (_, number) => readText(scratch, `file-${number}`)));
    assert.deepEqual(
      texts,
      Array.from({ length: 300 }, (_, number) => String(number)),
    );
    assert.equal(scratch.files.workers.length, 2);
  });

  it("ends when it was not used for a while, and comes back when it is needed", async () => {
    await using scratch = await createScratchWorkspace({ idleMs: 1 });
    await scratch.run(write("file", "x"));
    const worker = theWorker(scratch);
    await worker.ended;
    assert.equal(await readText(scratch, "file"), "x");
  });

  it("makes room for others, those used longest ago first, but never while it is in use", async () => {
    await using scratch = await createScratchWorkspace({ maxWorkers: 2 });
    const others = await Promise.all(["one", "two", "three"].map((name) => makeWorkspace(scratch, name)));
    const [one = "", two = "", three = ""] = others;
    const { signal } = new AbortController();
    const use = async (workspace: string): Promise<FileWorker> => {
      const known = scratch.files.workers;
      const prepared = await scratch.files.prepare({ workspace, access: "read" }, list("."), signal);
      await prepared.commit();
      return scratch.files.workers.find((worker) => !known.includes(worker)) ?? assert.fail("no new worker");
    };
    const first = await use(one);
    const second = await use(two);
    const held = await scratch.files.prepare({ workspace: one, access: "read" }, list("."), signal);
    await use(three);
    await second.ended;
    assert.deepEqual([first.isAlive, scratch.files.workers.length], [true, 2]);
    const alsoHeld = await scratch.files.prepare({ workspace: three, access: "read" }, list("."), signal);
    const waiting = scratch.files.prepare({ workspace: two, access: "read" }, list("."), signal);
    const cancel = new AbortController();
    const given = scratch.files.prepare({ workspace: two, access: "read" }, list("."), cancel.signal);
    cancel.abort();
    await assertFails(given, "CANCELLED");
    await held.abandon();
    await (await waiting).abandon();
    await first.ended;
    await alsoHeld.abandon();
  });

  it("is restarted after it was killed, and running operations fail", async () => {
    await using scratch = await createScratchWorkspace();
    await scratch.run(write("file", "before"));
    const prepared = await scratch.prepare(write("file", "after"));
    const worker = theWorker(scratch);
    process.kill(await worker.pid, "SIGKILL");
    await worker.ended;
    await assertFails(prepared.commit(), "SANDBOX_ERROR");
    assert.equal(await readText(scratch, "file"), "before");
    await scratch.run(write("file", "after"));
    assert.equal(await readFile(scratch.at("file"), "utf8"), "after");
  });

  it("leaves nothing behind for good when it is killed in the middle of a write", async () => {
    await using scratch = await createScratchWorkspace();
    await mkdir(scratch.at("directory"));
    await scratch.own();
    const pieces = [1, 2, 3].map((number) => Buffer.alloc(1000, String(number)));
    async function* content(): AsyncGenerator<Uint8Array, void> {
      yield* pieces.slice(0, 2);
      await scratch.untilLeftOver();
      const worker = theWorker(scratch);
      process.kill(await worker.pid, "SIGKILL");
      await worker.ended;
      yield* pieces.slice(2);
    }
    const wanted = fileState(Buffer.concat(pieces));
    const absent = { kind: "absent" } as const;
    const operation = {
      kind: "restore",
      path: "directory/long",
      expected: absent,
      before: wanted,
      content: content(),
    } as const;
    await assertFails(scratch.run(operation), "SANDBOX_ERROR");
    assert.equal((await scratch.leftOvers()).length, 1);
    assert.deepEqual(await stateAt(scratch, "directory/long"), { kind: "absent" });
    await scratch.run(write("other", "x"));
    assert.deepEqual(await scratch.leftOvers(), []);
  });

  it("leaves an edit done or not done, and nothing between, wherever it is killed", async () => {
    await using scratch = await createScratchWorkspace();
    const [old, edited] = ["a".repeat(1_000_000), "b".repeat(1_000_000)];
    await scratch.run(write("file", `${old}\n`));
    for (const hasBegun of [false, true, true]) {
      const edit = { kind: "edit", path: "file", oldContent: old, newContent: edited, replaceAll: false } as const;
      const prepared = await scratch.prepare(edit);
      const worker = theWorker(scratch);
      let isSettled = false;
      const committed = prepared
        .commit()
        .then(
          () => true,
          () => false,
        )
        .finally(() => {
          isSettled = true;
        });
      // With a part of it written under another name, or at any other moment.
      while (hasBegun && !isSettled && (await scratch.leftOvers()).length === 0);
      process.kill(await worker.pid, "SIGKILL");
      await worker.ended;
      const isDone = await committed;
      const now = await readFile(scratch.at("file"), "utf8");
      assert.ok(now === `${old}\n` || now === `${edited}\n`, `${now.length} characters`);
      if (isDone) assert.equal(now, `${edited}\n`);
      await scratch.run(write("file", `${old}\n`));
    }
  });

  it("takes away what an earlier run of the kernel left, when it is asked what happened", async () => {
    await using scratch = await createScratchWorkspace();
    await mkdir(scratch.at(".narthex-7e57-0123-4567-tree-0/inside"), { recursive: true });
    await writeFile(scratch.at(".narthex-7e57-0123-4567-0"), "half");
    await writeFile(scratch.at(".narthex-0the4-0123-4567-0"), "of another kernel");
    await scratch.own();
    const place = { workspace: scratch.workspace, access: "write" } as const;
    const prepared = await scratch.files.prepare(
      place,
      { kind: "inspect", path: "file" },
      new AbortController().signal,
    );
    await prepared.commit();
    assert.deepEqual(await scratch.leftOvers(), [scratch.at(".narthex-0the4-0123-4567-0")]);
  });

  it("is restarted when another directory replaced the workspace", async () => {
    await using scratch = await createScratchWorkspace();
    await scratch.run(write("file", "old"));
    const held = await scratch.prepare(write("file", "late"));
    await rename(scratch.workspace, join(scratch.directory, "moved"));
    await makeWorkspace(scratch, "workspace");
    await scratch.run(write("file", "new"));
    assert.equal(await readFile(scratch.at("file"), "utf8"), "new");
    await held.commit();
    assert.equal(await readFile(join(scratch.directory, "moved/file"), "utf8"), "late");
    await rm(scratch.workspace, { recursive: true });
    await assertFails(scratch.run(read("file")), "FILE_NOT_FOUND", /workspace/);
  });

  it("stops what is cancelled, and does not do it", async () => {
    await using scratch = await createScratchWorkspace();
    const cancel = new AbortController();
    const prepared = await scratch.prepare(write("file", "x"), cancel.signal);
    cancel.abort();
    await assertFails(prepared.commit(), "CANCELLED");
    assert.deepEqual(await stateAt(scratch, "file"), { kind: "absent" });
    await assertFails(scratch.prepare(read("file"), cancel.signal), "CANCELLED");
    await writeFile(scratch.at("long"), Buffer.alloc(10 * MB));
    const later = new AbortController();
    const reading = await (await scratch.prepare(read("long"), later.signal)).commit();
    assert.equal(reading.kind, "read");
    if (reading.kind !== "read") return;
    await assertFails(
      (async () => {
        for await (const piece of reading.content) if (piece.length > 0) later.abort();
      })(),
      "CANCELLED",
    );
  });

  it("reads, hashes and appends to a file of any size with little memory", async () => {
    await using scratch = await createScratchWorkspace();
    await writeFile(scratch.at("huge"), "");
    await truncate(scratch.at("huge"), 256 * MB);
    await scratch.own();
    const start = process.memoryUsage.rss();
    let [length, most] = [0, 0];
    const reading = await runAs(scratch, "read", read("huge"));
    for await (const piece of reading.content) {
      length += piece.length;
      if (length % (32 * MB) === 0)
        most = Math.max(most, process.memoryUsage.rss() - start, await memoryOf(theWorker(scratch)));
    }
    assert.equal(length, 256 * MB);
    assert.ok(most < 192 * MB, `${Math.round(most / MB)} MB`);
    await truncate(scratch.at("huge"), 64 * MB);
    const [grown] = await change(scratch, write("huge", "end", "append"));
    assert.equal(grown?.after.kind === "file" && grown.after.size, 64 * MB + 3);
  });

  it("holds nothing open after whatever it did, or refused to do", async () => {
    await using scratch = await createScratchWorkspace();
    await mkdir(scratch.at("d/e"), { recursive: true });
    await writeFile(scratch.at("d/e/long"), Buffer.alloc(MB));
    await symlink("/etc", scratch.at("out"));
    await symlink("loop", scratch.at("loop"));
    await scratch.own();
    const operations = ["d/e/long", "d", "none/none", "d/e/long/x", "out/x", "loop", ".", "d/e/new/file"].flatMap(
      (path) => [
        read(path),
        list(path, { depth: 5 }),
        write(path, "x"),
        write(path, "x", "create_only"),
        edit(path, "x", "y"),
        remove(path),
        move(path, "d/e/moved/there"),
        move("d/e/moved/there", path, true),
        inspect(path),
      ],
    );
    const place = { workspace: scratch.workspace, access: "write" } as const;
    const runAll = async (end: "abandon" | "commit"): Promise<string[]> => {
      for (const operation of operations) {
        const { signal } = new AbortController();
        const prepared = await scratch.files.prepare(place, operation, signal).catch(() => undefined);
        const answer = await prepared?.[end]().catch(() => undefined);
        if (answer?.kind === "read") for await (const piece of answer.content) if (piece.length > 0) break;
      }
      // Answered after all that was said before.
      await assertFails(scratch.files.prepare(place, read("absent"), new AbortController().signal), "FILE_NOT_FOUND");
      return await readdir(`/proc/${await theWorker(scratch).pid}/fd`);
    };
    const first = await runAll("commit");
    for (const end of ["abandon", "commit", "commit"] as const) assert.deepEqual(await runAll(end), first);
  });

  it("refuses to work as root", async () => {
    await using scratch = await createScratchWorkspace({ identify: () => ({ uid: 0, gid: 0 }) });
    await assertFails(scratch.run(read("x")), "SANDBOX_ERROR", /root/);
    if (process.getuid?.() !== 0) return;
    await using other = await createScratchWorkspace();
    await chown(other.workspace, 0, 0);
    await writeFile(other.at("file"), "of root");
    assert.equal(await readText(other, "file"), "of root");
    await assertFails(other.run(write("file", "x")), "SANDBOX_UNAVAILABLE", /root/);
  });
});

function theWorker({ files }: ScratchWorkspace): FileWorker {
  return files.workers.at(-1) ?? assert.fail("no worker runs");
}

async function memoryOf(worker: FileWorker): Promise<number> {
  const status = await readFile(`/proc/${await worker.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/mu.exec(status)?.[1]) * 1024;
}

async function makeWorkspace({ directory }: ScratchWorkspace, name: string): Promise<string> {
  const workspace = join(directory, name);
  await mkdir(workspace);
  if (process.getuid?.() === 0) await chown(workspace, TEST_USER, TEST_USER);
  return workspace;
}
