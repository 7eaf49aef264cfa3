import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { KernelError } from "@narthex/contracts";
import type { ProgramAccess } from "@narthex/kernel";
import { unexpectedChanges } from "./unexpected-changes.ts";
import { type ConfigEntry, readConfigEntries } from "./config-entries.ts";
import { OWN_CONFIG_LISTING } from "./dangerous-config.ts";
import { GitRunner } from "./git-runner.ts";
import { SANDBOX_WORKSPACE } from "./sandbox-path.ts";
import { restoreConfig } from "./restore-config.ts";
import { HostileRepository } from "./testing/hostile-repository.ts";

/** The real git, with the repository's own path in the place of the sandbox's. */
function programsIn(repository: HostileRepository): ProgramAccess {
  return {
    async run({ command, environment = {} }) {
      const [program = "", ...args] = command.map((word) => (word === SANDBOX_WORKSPACE ? repository.directory : word));
      const { status, stdout, stderr } = spawnSync(program, args, { cwd: repository.directory, env: environment });
      const printed = (head: Uint8Array) => ({ head, size: head.length, hash: "" });
      return { exitCode: status ?? undefined, exceeded: undefined, stdout: printed(stdout), stderr: printed(stderr) };
    },
  };
}

function isEntries(listed: ReturnType<typeof readConfigEntries>): listed is readonly ConfigEntry[] {
  return !("problem" in listed);
}

test("keys that git must not change have all their values again, in their order, and the call fails", async () => {
  const repository = new HostileRepository();
  try {
    const git = new GitRunner(programsIn(repository), {
      operation: "REMOTE",
      workingDirectory: ".",
      hasNetwork: false,
    });
    const list = async (): Promise<readonly ConfigEntry[]> => {
      const listed = readConfigEntries((await git.capture(OWN_CONFIG_LISTING)).stdout);
      assert.ok(isEntries(listed));
      return listed;
    };
    repository.config("filter.a=b.clean", "one");
    repository.config("filter.a=b.clean", "two words; # and more");
    repository.config("alias.gone", "status");
    const before = await list();
    repository.git("config", "--unset-all", "filter.a=b.clean");
    repository.git("config", "filter.a=b.clean", "evil");
    repository.git("config", "--unset", "alias.gone");
    repository.git("config", "core.fsmonitor", "evil");
    repository.git("config", "remote.origin.url", "https://example.org/x");
    const changes = unexpectedChanges("REMOTE", before, await list());
    await assert.rejects(
      restoreConfig(git, changes, { workingDirectory: ".", repositories: ["."] }),
      (fault) =>
        fault instanceof KernelError && fault.code === "UNDECLARED_EFFECT" && /`core\.fsmonitor`/.test(fault.message),
    );
    assert.deepEqual(unexpectedChanges("REMOTE", before, await list()), []);
    assert.equal(repository.git("config", "remote.origin.url"), "https://example.org/x\n");
  } finally {
    repository.remove();
  }
});

test("a configuration that cannot be put back makes the workspace unsafe", async () => {
  const repository = new HostileRepository();
  try {
    const git = new GitRunner(programsIn(repository), {
      operation: "REMOTE",
      workingDirectory: ".",
      hasNetwork: false,
    });
    const change = { key: "no-section", before: ["x"], isThere: false };
    await assert.rejects(
      restoreConfig(git, [change], { workingDirectory: ".", repositories: ["."] }),
      (fault) => fault instanceof KernelError && fault.code === "PROTECTION_FAILED",
    );
  } finally {
    repository.remove();
  }
});
