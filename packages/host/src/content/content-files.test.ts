import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type mock, test } from "node:test";
import { blake3, toHex, utf8 } from "@narthex/contracts";
import type { ContentStore } from "@narthex/kernel";
import { contentStoreContract } from "@narthex/testkit";
import { openContentFiles } from "./content-files.ts";

let base = "";
let opened = 0;

before(async () => {
  base = await mkdtemp(join(tmpdir(), "narthex-content-"));
});
after(() => rm(base, { recursive: true, force: true }));

function freshDirectory(): string {
  return join(base, String(opened++), "content");
}

contentStoreContract("a store in files", () => openContentFiles(freshDirectory()));

const LARGE = 1_000_000;

/** A store with one content of `LARGE` bytes, and where that lies. */
async function withContent(): Promise<{ store: ContentStore; directory: string; digest: Uint8Array; path: string }> {
  const directory = freshDirectory();
  const store = await openContentFiles(directory);
  const digest = await put(store, new Uint8Array(LARGE).fill(7));
  const name = toHex(digest);
  return { store, directory, digest, path: join(directory, name.slice(0, 2), name) };
}

async function put(store: ContentStore, bytes: Uint8Array): Promise<Uint8Array> {
  const writer = await store.openWriter();
  await writer.write(bytes);
  return (await writer.commit()).digest;
}

/** Collects until the end or a fault. */
async function readUntilFault(
  store: ContentStore,
  digest: Uint8Array,
  limit = LARGE,
): Promise<{ bytes: number; code: unknown }> {
  let bytes = 0;
  try {
    for await (const chunk of store.read(digest, 0, limit)) bytes += chunk.length;
  } catch (fault) {
    return { bytes, code: fault instanceof Error && "code" in fault ? fault.code : fault };
  }
  return { bytes, code: undefined };
}

describe("damage", () => {
  test("a changed byte anywhere is found before the last chunk is given out", async () => {
    const { store, digest, path } = await withContent();
    for (const place of [0, 500_000, LARGE - 1]) {
      const file = await open(path, "r+");
      await file.write(utf8("x"), 0, 1, place);
      await file.close();
      const { bytes, code } = await readUntilFault(store, digest);
      assert.equal(code, "CONTENT_DAMAGED");
      assert.ok(bytes < LARGE);
      await put(store, new Uint8Array(LARGE).fill(7));
      assert.deepEqual(await readUntilFault(store, digest), { bytes: LARGE, code: undefined });
    }
  });

  test("a file that was cut, emptied or has grown is found", async () => {
    const { store, digest, path } = await withContent();
    for (const size of [LARGE - 1, 262_144, 1, 0, LARGE + 1]) {
      await truncate(path, size);
      const { bytes, code } = await readUntilFault(store, digest, Number.MAX_SAFE_INTEGER);
      assert.equal(code, "CONTENT_DAMAGED", String(size));
      assert.ok(bytes < LARGE);
      assert.deepEqual(await store.stat(digest), { size });
    }
  });

  test("a file that is cut while it is read is found, in a slice too", async () => {
    const { store, digest, path } = await withContent();
    const slice = store.read(digest, 1, LARGE - 1)[Symbol.asyncIterator]();
    await slice.next();
    await truncate(path, 300_000);
    const drain = async (): Promise<void> => {
      while (!(await slice.next()).done);
    };
    await assert.rejects(drain(), { code: "CONTENT_DAMAGED" });
  });

  test("equal bytes written again mend it", async () => {
    const { store, digest, path } = await withContent();
    await writeFile(path, "damaged");
    await put(store, new Uint8Array(LARGE).fill(7));
    assert.deepEqual(await readUntilFault(store, digest), { bytes: LARGE, code: undefined });
  });

  test("a link, a directory or a pipe in a file's place is not read, and nothing waits for it", async () => {
    const { store, digest, path, directory } = await withContent();
    const outside = join(directory, "..", "outside");
    await writeFile(outside, new Uint8Array(LARGE).fill(7));
    const impostors = [
      () => symlink(outside, path),
      () => mkdir(path),
      () => Promise.resolve(execFileSync("/usr/bin/mkfifo", [path])),
    ];
    for (const plant of impostors) {
      await rm(path, { recursive: true });
      await plant();
      assert.deepEqual(await readUntilFault(store, digest), { bytes: 0, code: "CONTENT_DAMAGED" });
      await assert.rejects(store.stat(digest), { code: "CONTENT_DAMAGED" });
    }
  });

  test("absent content is not found, and bad slices are refused", async () => {
    const { store, digest } = await withContent();
    assert.equal((await readUntilFault(store, blake3(utf8("absent")))).code, "CONTENT_NOT_FOUND");
    assert.equal((await readUntilFault(store, digest.subarray(1))).code, "CONTENT_NOT_FOUND");
    for (const count of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      await assert.rejects(Array.fromAsync(store.read(digest, count, 1)), { code: "INTERNAL" });
      await assert.rejects(Array.fromAsync(store.read(digest, 0, count)), { code: "INTERNAL" });
    }
  });
});

describe("opening", () => {
  test("a directory open to others, or a link in a directory's place, is refused and nothing is touched", async () => {
    const shared = freshDirectory();
    await mkdir(shared, { recursive: true });
    await chmod(shared, 0o770);
    await assert.rejects(openContentFiles(shared), { code: "HOME_UNSAFE" });

    const victim = join(base, "victim");
    await mkdir(victim, { mode: 0o700 });
    await writeFile(join(victim, "file"), "precious");
    for (const name of ["", "tmp", "ab"]) {
      const directory = freshDirectory();
      await mkdir(name === "" ? join(directory, "..") : directory, { recursive: true, mode: 0o700 });
      await symlink(victim, join(directory, name).replace(/\/$/, ""));
      await assert.rejects(openContentFiles(directory), { code: "HOME_UNSAFE" }, name);
    }
    assert.deepEqual(await readdir(victim), ["file"]);
  });

  test("a file in the directory's place is refused", async () => {
    const path = join(base, "file");
    await writeFile(path, "");
    await assert.rejects(openContentFiles(path), { code: "HOME_UNSAFE" });
  });

  test("removes what unfinished writers left, and keeps what was committed", async () => {
    const { directory, digest, store } = await withContent();
    const writer = await store.openWriter();
    await writer.write(new Uint8Array(300_000));
    assert.equal((await readdir(join(directory, "tmp"))).length, 1);
    const again = await openContentFiles(directory);
    assert.deepEqual(await readdir(join(directory, "tmp")), []);
    assert.deepEqual(await readUntilFault(again, digest), { bytes: LARGE, code: undefined });
    await assert.rejects(writer.commit(), { code: "STORE_UNAVAILABLE" });
  });
});

describe("files", () => {
  test("lie under their hash by its first byte, private to their owner, with nothing beside them", async () => {
    const { directory, digest, path } = await withContent();
    const folder = toHex(digest).slice(0, 2);
    assert.deepEqual((await readdir(directory)).sort(), [folder, "tmp"].sort());
    assert.deepEqual(await readdir(join(directory, folder)), [toHex(digest)]);
    assert.deepEqual(await readdir(join(directory, "tmp")), []);
    for (const each of [directory, join(directory, folder), join(directory, "tmp")]) {
      assert.equal((await lstat(each)).mode & 0o777, 0o700);
    }
    assert.equal((await lstat(path)).mode & 0o777, 0o600);
    assert.deepEqual(blake3(await readFile(path)), digest);
  });

  test("are given out in chunks of at most 256 KB", async () => {
    const { store, digest } = await withContent();
    const sizes = (await Array.fromAsync(store.read(digest, 0, LARGE))).map((chunk) => chunk.length);
    assert.deepEqual(sizes, [262_144, 262_144, 262_144, LARGE - 3 * 262_144]);
  });

  test("are written and read without holding them in memory", async () => {
    const store = await openContentFiles(freshDirectory());
    const size = 96 * 1024 * 1024;
    const chunk = new Uint8Array(64 * 1024);
    let highest = 0;
    const before = process.memoryUsage().arrayBuffers;
    const watch = (): void => {
      highest = Math.max(highest, process.memoryUsage().arrayBuffers - before);
    };
    const writer = await store.openWriter();
    for (let written = 0; written < size; written += chunk.length) {
      await writer.write(chunk);
      watch();
    }
    assert.ok(highest < 8 * 1024 * 1024, `writing held ${highest} bytes`);
    const { digest } = await writer.commit();
    let total = 0;
    for await (const part of store.read(digest, 0, size)) {
      total += part.length;
      watch();
    }
    assert.equal(total, size);
    assert.ok(highest < size * 0.75, `reading held ${highest} bytes`);
  });

  test("never differ from their name, even if a chunk changes while it is written", async () => {
    const store = await openContentFiles(freshDirectory());
    const chunk = new Uint8Array(2_000_000);
    const writer = await store.openWriter();
    const written = writer.write(chunk);
    while (!(await Promise.race([written.then(() => true), new Promise((resolve) => setImmediate(resolve, false))]))) {
      chunk.fill((chunk[0] ?? 0) + 1);
    }
    const { digest } = await writer.commit();
    assert.deepEqual(await readUntilFault(store, digest, chunk.length), { bytes: chunk.length, code: undefined });
  });

  test("a writer that has ended takes nothing more", async () => {
    const store = await openContentFiles(freshDirectory());
    const committed = await store.openWriter();
    await committed.commit();
    await assert.rejects(committed.write(utf8("x")), { code: "INTERNAL" });
    await assert.rejects(committed.commit(), { code: "INTERNAL" });
    const aborted = await store.openWriter();
    await aborted.abort();
    await assert.rejects(aborted.write(utf8("x")), { code: "INTERNAL" });
    await assert.rejects(aborted.commit(), { code: "INTERNAL" });
  });
});

describe("a failing disk", () => {
  test("that is full ends the writer and leaves nothing; later writers work", async (t) => {
    const { store, directory } = await withContent();
    const writer = await store.openWriter();
    const failing = await failNext(t, "write", "ENOSPC");
    await assert.rejects(writer.write(new Uint8Array(LARGE)), { code: "STORE_UNAVAILABLE", message: /ENOSPC/ });
    failing.mock.restore();
    await assert.rejects(writer.commit(), { code: "STORE_UNAVAILABLE" });
    await writer.abort();
    assert.deepEqual(await readdir(join(directory, "tmp")), []);
    await put(store, new Uint8Array(LARGE).fill(8));
  });

  test("that cannot make bytes durable ends all writing, and reading goes on", async (t) => {
    const { store, directory, digest } = await withContent();
    const waiting = await store.openWriter();
    const writer = await store.openWriter();
    await writer.write(utf8("lost"));
    const failing = await failNext(t, "sync", "EIO");
    await assert.rejects(writer.commit(), { code: "STORE_UNAVAILABLE" });
    failing.mock.restore();
    assert.equal(await store.stat(blake3(utf8("lost"))), undefined);
    await assert.rejects(waiting.commit(), { code: "STORE_UNAVAILABLE" });
    await assert.rejects(store.openWriter(), { code: "STORE_UNAVAILABLE" });
    await assert.rejects(store.remove(digest), { code: "STORE_UNAVAILABLE" });
    assert.deepEqual(await readdir(join(directory, "tmp")), []);
    assert.deepEqual(await readUntilFault(store, digest), { bytes: LARGE, code: undefined });
  });

  test("writes in pieces as small as it likes", async (t) => {
    const store = await openContentFiles(freshDirectory());
    const prototype = await fileHandlePrototype();
    const write = prototype.write;
    const short = t.mock.method(
      prototype,
      "write",
      function (this: unknown, bytes: Uint8Array, at: number, length: number) {
        return Reflect.apply(write, this, [bytes, at, Math.min(length, 10_007), null]);
      },
    );
    const digest = await put(store, new Uint8Array(LARGE).fill(9));
    assert.ok(short.mock.callCount() > 90);
    short.mock.restore();
    assert.deepEqual(await readUntilFault(store, digest), { bytes: LARGE, code: undefined });
  });
});

type FileHandleMethods = Record<"write" | "sync", (...given: unknown[]) => Promise<unknown>>;

async function fileHandlePrototype(): Promise<FileHandleMethods> {
  const file = await open(import.meta.filename);
  await file.close();
  return Object.getPrototypeOf(file) as FileHandleMethods;
}

async function failNext(
  t: { readonly mock: typeof mock },
  method: keyof FileHandleMethods,
  code: string,
): Promise<ReturnType<typeof mock.method<FileHandleMethods, keyof FileHandleMethods>>> {
  return t.mock.method(await fileHandlePrototype(), method, () =>
    Promise.reject(Object.assign(new Error(code), { code })),
  );
}
