import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { GIT_OPERATIONS } from "@narthex/contracts";
import fc from "fast-check";
import { RUNS_ALL, sampled } from "../../../../test/sampled.ts";
import { gitArguments } from "./git-arguments.ts";
import { GIT_GRAMMARS } from "./git-grammars.ts";
import { GIT_OPERATION_FACTS, type GitOperationName, isGitOperation } from "./git-operations.ts";
import { HostileRepository } from "./testing/hostile-repository.ts";
import { READ_TRAPS } from "./testing/read-traps.ts";
import type { Trap } from "./testing/trap.ts";
import { WRITE_TRAPS } from "./testing/write-traps.ts";

/** Of each command. */
const OPTIONS = 25;
const RUNS = RUNS_ALL ? 1500 : 500;

/** Makes a terminal; part of util-linux. */
const TERMINAL = "script";

function springs(trap: Trap): void {
  const repository = new HostileRepository();
  try {
    trap.set(repository);
    repository.sprung();
    trap.again?.(repository);
    repository.plain(trap.args, trap.input);
    assert.equal(repository.sprung(), true, "the trap does not work: git without a guard ran nothing");

    const request = { operation: trap.operation, args: trap.args.slice(1) };
    const built = gitArguments(request, { protocols: ["https", "ssh", "git"] });
    if ("argv" in built && built.argv[0] === trap.args[0]) {
      trap.again?.(repository);
      repository.sprung();
      const { status, stderr } = repository.guarded(trap.operation, built.argv, trap.input);
      assert.equal(repository.sprung(), false, "the guarded git ran the program");
      if (trap.refused) assert.equal(status, null, "the operation was not refused");
      else if (trap.fails) assert.notEqual(status, 0);
      else assert.equal(status, 0, stderr);
    }
    // Even if the grammar let everything pass, the configuration is harmless.
    trap.again?.(repository);
    repository.sprung();
    repository.guarded(trap.operation, trap.args, trap.input);
    assert.equal(repository.sprung(), false, "git with a guarded configuration ran the program");
  } finally {
    repository.remove();
  }
}

describe("a repository that sets traps", () => {
  for (const trap of READ_TRAPS)
    it(`${trap.key} springs on \`git ${trap.args.join(" ")}\`, and not when guarded`, () => springs(trap));
});

describe("a repository that sets traps for those who write", () => {
  for (const trap of WRITE_TRAPS)
    it(`${trap.key} springs on \`git ${trap.args.join(" ")}\`, and not when guarded`, () => springs(trap));
});

type LetThrough = readonly [operation: GitOperationName, args: readonly string[]];

/** Runs them all, and half of them again and again if one did harm, until it is found. */
function assertHarmless(repository: HostileRepository, through: readonly LetThrough[], written: string): void {
  rmSync(written, { force: true });
  repository.sprung();
  repository.guardedAll(through);
  if (!repository.sprung() && !existsSync(written)) return;
  const half = Math.ceil(through.length / 2);
  if (through.length > 1) {
    assertHarmless(repository, through.slice(0, half), written);
    assertHarmless(repository, through.slice(half), written);
  }
  assert.fail(`did harm: ${through.map(([operation, args]) => [operation, ...args].join(" ")).join("; ")}`);
}

describe("arguments that were let through", () => {
  it("are never another option after one that takes a value", (context) => {
    const repository = new HostileRepository();
    try {
      const written = join(repository.root, "written");
      const through: LetThrough[] = [];
      for (const operation of GIT_OPERATIONS) {
        if (!isGitOperation(operation)) continue;
        const whole = GIT_GRAMMARS[operation];
        for (const [name, grammar] of whole.subcommands ?? new Map([["", whole]])) {
          const { flags, values, attached, lastDefaults } = grammar;
          for (const option of sampled([...flags, ...values, ...attached, ...lastDefaults], OPTIONS)) {
            for (const hidden of [[`--output=${written}`], ["--", `--output=${written}`]]) {
              const built = gitArguments({ operation, args: [...(name === "" ? [] : [name]), option, ...hidden] });
              // After the end of options it is a path, and nothing is hidden by that.
              if ("violations" in built || built.argv.indexOf("--") === built.argv.length - 2) continue;
              through.push([operation, built.argv]);
            }
          }
        }
      }
      assert.ok(through.length > 50, `only ${through.length} runs`);
      context.diagnostic(`${through.length} were let through`);
      assertHarmless(repository, through, written);
    } finally {
      repository.remove();
    }
  });

  it("never write a file, run a program or become another option", (context) => {
    const repository = new HostileRepository();
    try {
      const written = join(repository.root, "written");
      const plain =
        "-- - -U --encoding --format --stat -p -q -n -m -a -am --all HEAD main file.txt . x 1 -1 --amend --allow-empty --date " +
        "--since -S -G -L -b -u --sort --points-at --rebase --onto list push show add pop --index -v -s -f -x " +
        "--ext-diff --textconv --edit --contains";
      const words = fc.constantFrom(
        `--output=${written}`,
        `-o${written}`,
        `-O${written}`,
        `--exec=${repository.mute}`,
        `--upload-pack=${repository.mute}`,
        `ext::${repository.mute}`,
        repository.mute,
        ...plain.split(" "),
      );
      const operation = fc.constantFrom(...GIT_OPERATIONS);
      const asked = fc.tuple(operation, fc.array(words, { minLength: 1, maxLength: 5 }));
      const through = fc.sample(asked, RUNS).flatMap(([name, args]): LetThrough[] => {
        const built = gitArguments({ operation: name, args });
        return "violations" in built ? [] : [[built.operation, built.argv]];
      });
      assert.ok(through.length > 30, `only ${through.length} runs`);
      context.diagnostic(`${through.length} of ${RUNS} were let through`);
      assertHarmless(repository, through, written);
    } finally {
      repository.remove();
    }
  });
});

describe("an alias", () => {
  it("hides none of the operations", () => {
    const repository = new HostileRepository();
    try {
      repository.config("alias.odd", `!${repository.trap}`);
      repository.plain(["odd"]);
      assert.equal(repository.sprung(), true, "the trap does not work");
      for (const { command } of Object.values(GIT_OPERATION_FACTS))
        repository.config(`alias.${command}`, `!${repository.trap}`);
      for (const { command } of Object.values(GIT_OPERATION_FACTS)) repository.plain([command, "-h"]);
      assert.equal(repository.sprung(), false);
    } finally {
      repository.remove();
    }
  });
});

describe("a terminal", () => {
  for (const [key, operation, command] of [
    ["core.pager", "LOG", ["log"]],
    ["pager.log", "LOG", ["log"]],
    ["pager.status", "STATUS", ["status"]],
    ["interactive.diffFilter", "ADD", ["add", "-p"]],
  ] as const) {
    it(`${key} springs there, and not when guarded`, (context) => {
      if (spawnSync(TERMINAL, ["--version"]).status !== 0) {
        return context.diagnostic("not tried: there is no `script` here to make a terminal");
      }
      const repository = new HostileRepository();
      try {
        repository.config(key, repository.trap);
        repository.write("file.txt", "two\n");
        repository.terminal(["git", ...command]);
        assert.equal(repository.sprung(), true, "the trap does not work: git without a guard ran nothing");
        repository.terminalGuarded(operation, command);
        assert.equal(repository.sprung(), false);
      } finally {
        repository.remove();
      }
    });
  }
});
