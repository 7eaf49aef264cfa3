import assert from "node:assert/strict";
import { symlink } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import type { Capability } from "@narthex/kernel";
import type { SocketSession } from "../doors/socket-kernel.ts";
import { codeOf, createFileKernel, type FileKernel } from "./file-kernel.ts";

/** Every tool that takes a path, with that path in it. */
const CALLS: Readonly<Record<string, (path: string) => readonly [string, JsonObject]>> = {
  "file_read.path": (path) => ["file_read", { path }],
  "read_file.path": (path) => ["read_file", { path }],
  "file_write.path": (path) => ["file_write", { path, content: "changed" }],
  "file_edit.path": (path) => ["file_edit", { path, old_content: "text", new_content: "changed" }],
  "file_delete.path": (path) => ["file_delete", { path }],
  "file_move.source": (path) => ["file_move", { source: path, destination: "given/moved", overwrite: true }],
  "file_move.destination": (path) => ["file_move", { source: "given/b", destination: path, overwrite: true }],
  "file_search.path": (path) => ["file_search", { pattern: "text", path }],
  "file_list.path": (path) => ["file_list", { path: path.replace(/\/a$/, "") }],
  "db_query.database": (path) => ["db_query", { database: path.replace(/\/a$/, "/db"), sql: "SELECT 1" }],
};

describe("a lease for one directory", { timeout: 120_000 }, () => {
  let at: FileKernel;
  let narrow: SocketSession;
  before(async () => {
    at = await createFileKernel({ configuration: "session: {quarantine: {violations: 1000, window_ms: 1000}}\n" });
    for (const directory of ["given", "other", "given-not"]) {
      await at.put(`${directory}/a`, "text");
      const database = new DatabaseSync(at.at(`${directory}/db`));
      database.exec("CREATE TABLE t(a)");
      database.close();
    }
    await symlink("../other", at.at("given/link"));
    await at.own();
    const prefixes = [at.at("given")];
    const capabilities: readonly Capability[] = [
      { kind: "fs_read", prefixes },
      { kind: "fs_write", prefixes },
      { kind: "db_read", names: ["*"] },
      { kind: "db_write", names: ["*"] },
    ];
    narrow = await at.kernel.session({ workspace: at.workspace, lease: { capabilities } });
  });
  after(() => at[Symbol.asyncDispose]());

  for (const [argument, callWith] of Object.entries(CALLS)) {
    it(`checks ${argument} against its roots in every spelling, through links too`, async () => {
      for (const path of [
        "other/a",
        "./other//a",
        "given-not/a",
        at.at("other/a"),
        `${at.workspace}//given-not/./a`,
        "/workspace/other/a",
        "given/link/a",
      ]) {
        const [tool, input] = callWith(path);
        const { response } = await narrow.call(tool, input);
        const code = codeOf(response.result);
        // A database is opened through no link at all.
        const expected =
          path === "given/link/a" && tool === "db_query"
            ? /^(?:PATH_ESCAPE|CAPABILITY_MISSING)$/
            : /^CAPABILITY_MISSING$/;
        assert.match(code, expected, `${tool} ${path}`);
      }
      assert.equal(await at.text("other/a"), "text");
      assert.equal(await at.text("given-not/a"), "text");
    });

    it(`permits ${argument} below its roots, in every spelling`, async () => {
      for (const path of ["given/a", "./given//./a", at.at("given/a"), "/workspace/given/a"]) {
        for (const name of ["given/a", "given/b"]) await at.put(name, "text");
        const [tool, input] = callWith(path);
        const { response } = await narrow.call(tool, input);
        assert.equal(response.result.case, "success", `${tool} ${path}`);
      }
    });
  }
});
