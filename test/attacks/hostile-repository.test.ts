import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFile, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { READ_TRAPS } from "../../packages/tools/src/git/testing/read-traps.ts";
import { GIT_OPERATION_FACTS } from "@narthex/tools";
import { SUBMODULE_TRAPS } from "../../packages/tools/src/git/testing/submodule-traps.ts";
import { WRITE_TRAPS } from "../../packages/tools/src/git/testing/write-traps.ts";
import { HostileKernel } from "./hostile-repository-kernel.ts";
import { sampled } from "../sampled.ts";

/** One for each key: what else sets off the same is tried beside the tool, on git itself. */
function onePerKey<T extends { readonly key: string }>(traps: readonly T[]): readonly T[] {
  return [...new Map(traps.toReversed().map((trap) => [trap.key, trap])).values()];
}

let kernel: HostileKernel;
before(async () => {
  kernel = await HostileKernel.open();
});
after(() => kernel.close());

describe("a hostile repository, to operations that read", () => {
  it("a running trap would be noticed even if nothing can be written", () =>
    kernel.visit(async (repository, session) => {
      await kernel.plain(repository, session, [repository.trap], true);
      assert.equal(repository.sprung(), true);
    }));

  for (const trap of sampled(onePerKey(READ_TRAPS), 10)) {
    it(`${trap.key} runs nothing at all on ${trap.operation} ${trap.args.slice(1).join(" ")}`, async () => {
      const { exitCode, code, message } = await kernel.spring(trap);
      if (code === "INVALID_INPUT") return;
      assert.equal(code, "success", message);
      if (trap.fails) assert.notEqual(exitCode, 0);
      else assert.equal(exitCode, 0);
    });
  }
});

describe("a hostile repository, to operations that write", () => {
  // Some are about a command of git that no operation is; they are tried without a kernel.
  const traps = [...WRITE_TRAPS, ...SUBMODULE_TRAPS].filter(
    ({ args, operation }) => args[0] === GIT_OPERATION_FACTS[operation].command,
  );
  for (const trap of sampled(onePerKey(traps), 8)) {
    it(`${trap.key} runs nothing on ${trap.operation} ${trap.args.slice(1).join(" ")}`, async () => {
      const { code, message } = await kernel.spring(trap);
      if (trap.refused) {
        assert.equal(code, "EXECUTION_FAILED");
        assert.match(message, /nothing was run/);
      } else assert.match(code, /^(?:success|INVALID_INPUT|NETWORK_BLOCKED)$/, message);
    });
  }
});

describe("a hostile repository, to tools that write files", () => {
  it("is inspected within limits: loops of includes and links, special files, an endless configuration", () =>
    kernel.visit(async (repository, session) => {
      const work = join(repository.root, "work");
      execFileSync("mkfifo", [join(work, "pipe")]);
      const includes = [
        "config",
        "../loop",
        "/dev/zero",
        "../pipe",
        "../../../../../../etc/passwd",
        "~/x",
        "../deep/0",
      ];
      const text = includes.map((path) => `[include]\n\tpath = ${path}\n`).join("");
      await appendFile(join(work, ".git/config"), text + "[alias]\n\tx = y\n".repeat(100_000));
      await writeFile(join(work, "loop"), "[include]\n\tpath = loop\n\tpath = .git/config\n");
      await mkdir(join(work, "deep"));
      for (let index = 0; index < 200; index++) {
        await writeFile(join(work, `deep/${index}`), `[include]\n\tpath = ${index + 1}\n`);
      }
      await symlink("two", join(work, ".claude"));
      await symlink(".claude", join(work, "two"));
      await symlink("/dev/zero", join(work, ".envrc"));
      repository.own();
      const write = async (path: string) => (await session.call("file_write", { path, content: "x" })).status;
      assert.equal(await write("work/plain"), "success");
      for (const path of ["work/loop", "work/deep/0", "work/two"]) assert.equal(await write(path), "denied", path);
      await kernel.plain(repository, session, ["true"]);
    }));
});
