import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, toHex, utf8 } from "@narthex/contracts";
import type { FileResult, FileChange, FileOperation, WorkspaceFiles } from "@narthex/kernel";

/** The files that exist when a test begins, by path. */
export type StartingFiles = Readonly<Record<string, string>>;

/** A driver over a workspace with these files. Paths in `absent` are known to be missing. */
export interface FilesUnderTest {
  readonly files: WorkspaceFiles;
  readonly workspace: string;
  close?(): PromiseLike<void>;
}

export type OpenFiles = (start: StartingFiles, absent?: readonly string[]) => Promise<FilesUnderTest>;

const hashOf = (text: string): string => toHex(blake3(utf8(text)));

/** Tests that every driver of workspace files must pass, about files, their content and their names. */
export function testWorkspaceFilesContract(name: string, open: OpenFiles): void {
  const on = (
    what: string,
    start: StartingFiles,
    act: (run: (operation: FileOperation) => Promise<FileResult>) => Promise<void>,
    absent: readonly string[] = [],
  ): void => {
    test(`${name}: ${what}`, async () => {
      const under = await open(start, absent);
      try {
        await act(async (operation) => {
          const access = operation.kind === "read" ? "read" : "write";
          const { signal } = new AbortController();
          return await (await under.files.prepare({ workspace: under.workspace, access }, operation, signal)).commit();
        });
      } finally {
        await under.close?.();
      }
    });
  };

  on("reads all of a file, a range of it, and nothing beyond its end", { "a/b.txt": "0123456789" }, async (run) => {
    for (const [offset, limit, expected] of [
      [0, 0, "0123456789"],
      [3, 4, "3456"],
      [8, 100, "89"],
      [10, 0, ""],
      [50, 5, ""],
    ] as const) {
      const answer = await run({ kind: "read", path: "a/b.txt", offset, limit });
      assert.ok(answer.kind === "read");
      assert.deepEqual([answer.size, answer.length], [10, expected.length]);
      assert.equal(await textOf(answer.content), expected);
    }
  });

  on("does not read what is not there, nor a directory", { "a/b.txt": "x" }, async (run) => {
    const read = (path: string) => run({ kind: "read", path, offset: 0, limit: 0 });
    await assert.rejects(read("a/none.txt"), { code: "FILE_NOT_FOUND" });
    await assert.rejects(read("a"), { code: "NOT_A_FILE" });
  });

  on(
    "writes new files with their directories, replaces, and appends",
    { "old.txt": "before" },
    async (run) => {
      const write = (path: string, text: string, mode: "replace" | "append" | "create_only") =>
        changesOf(run({ kind: "write", path, content: utf8(text), mode }));
      assert.deepEqual(shown(await write("new/deep/one.txt", "one", "create_only")), [
        ["new", "absent", "directory"],
        ["new/deep", "absent", "directory"],
        ["new/deep/one.txt", "absent", hashOf("one")],
      ]);
      assert.deepEqual(shown(await write("old.txt", "after", "replace")), [
        ["old.txt", hashOf("before"), hashOf("after")],
      ]);
      assert.deepEqual(shown(await write("old.txt", " all", "append")), [
        ["old.txt", hashOf("after"), hashOf("after all")],
      ]);
      await assert.rejects(write("old.txt", "x", "create_only"), { code: "FILE_EXISTS" });
      await assert.rejects(write("new", "x", "replace"), { code: "NOT_A_FILE" });
    },
    ["new", "new/deep", "new/deep/one.txt"],
  );

  on(
    "edits what stands there once, or everywhere, and says on which lines",
    { "t.txt": "a b\nb c\nd" },
    async (run) => {
      const edit = (oldContent: string, newContent: string, replaceAll = false) =>
        run({ kind: "edit", path: "t.txt", oldContent, newContent, replaceAll });
      await assert.rejects(edit("x", "y"), { code: "NO_MATCH" });
      await assert.rejects(edit("b", "y"), { code: "MULTIPLE_MATCHES" });
      const once = await edit("d", "e");
      assert.ok(once.kind === "changed");
      assert.deepEqual(
        [once.lines, shown(once.changes)],
        [[3], [["t.txt", hashOf("a b\nb c\nd"), hashOf("a b\nb c\ne")]]],
      );
      const all = await edit("b", "bb", true);
      assert.ok(all.kind === "changed");
      assert.deepEqual([all.lines, shown(all.changes)[0]?.[2]], [[1, 2], hashOf("a bb\nbb c\ne")]);
    },
  );

  on("does not edit what is not there", { "one.txt": "1" }, async (run) => {
    await assert.rejects(run({ kind: "edit", path: "none", oldContent: "a", newContent: "b", replaceAll: false }), {
      code: "FILE_NOT_FOUND",
    });
  });

  on("deletes files, and directories only with all that is in them", { "d/one": "1", "d/two": "2" }, async (run) => {
    const remove = (path: string, recursive = false) => changesOf(run({ kind: "delete", path, recursive }));
    await assert.rejects(remove("none"), { code: "FILE_NOT_FOUND" });
    await assert.rejects(remove("d"), { code: "DIRECTORY_NOT_EMPTY" });
    assert.deepEqual(shown(await remove("d/one")), [["d/one", hashOf("1"), "absent"]]);
    assert.deepEqual(shown(await remove("d", true)), [
      ["d", "directory", "absent"],
      ["d/two", hashOf("2"), "absent"],
    ]);
    await assert.rejects(remove("d"), { code: "FILE_NOT_FOUND" });
  });

  on(
    "moves a file with its content, and replaces only if told to",
    { "a.txt": "a", "b.txt": "b" },
    async (run) => {
      const move = (source: string, destination: string, overwrite = false) =>
        changesOf(run({ kind: "move", source, destination, overwrite }));
      await assert.rejects(move("none", "c.txt"), { code: "FILE_NOT_FOUND" });
      await assert.rejects(move("a.txt", "b.txt"), { code: "FILE_EXISTS" });
      assert.deepEqual(shown(await move("a.txt", "b.txt", true)), [
        ["a.txt", hashOf("a"), "absent"],
        ["b.txt", hashOf("b"), hashOf("a")],
      ]);
      assert.deepEqual(shown(await move("b.txt", "to/c.txt")), [
        ["to", "absent", "directory"],
        ["b.txt", hashOf("a"), "absent"],
        ["to/c.txt", "absent", hashOf("a")],
      ]);
      const answer = await run({ kind: "read", path: "to/c.txt", offset: 0, limit: 0 });
      assert.equal(answer.kind === "read" && (await textOf(answer.content)), "a");
    },
    ["to", "to/c.txt"],
  );
}

async function changesOf(answering: Promise<FileResult>): Promise<readonly FileChange[]> {
  const answer = await answering;
  assert.ok(answer.kind === "changed");
  return answer.changes;
}

function shown(changes: readonly FileChange[]): [string, string, string][] {
  const told = (state: FileChange["before"]): string => (state.kind === "file" ? state.hash : state.kind);
  return changes.map(({ path, before, after }) => [path, told(before), told(after)]);
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString();
}
