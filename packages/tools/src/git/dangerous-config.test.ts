import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { utf8 } from "@narthex/contracts";
import fc from "fast-check";
import { CONFIG_RULES } from "./config-rules.ts";
import { MAX_LISTING_BYTES } from "./config-entries.ts";
import { dangerousConfig, MAX_OVERRIDES } from "./dangerous-config.ts";
import { gitArguments } from "./git-arguments.ts";
import { GIT_OPERATION_FACTS, isExpectedConfigChange } from "./git-operations.ts";
import { gitPrefix } from "./git-prefix.ts";
import { HostileRepository } from "./testing/hostile-repository.ts";
import { todoRunsPrograms } from "./todo-runs-programs.ts";

function listing(...entries: readonly string[]): Uint8Array {
  return utf8(entries.map((entry) => `file:.git/config\0${entry}\0`).join(""));
}

function remedies(operation: Parameters<typeof dangerousConfig>[1], ...keys: readonly string[]): string[] {
  return dangerousConfig(listing(...keys.map((key) => `${key}\nx`)), operation).findings.map(({ remedy }) => remedy);
}

describe("a listing that cannot be trusted", () => {
  it("refuses the operation", () => {
    const bad: [string, Uint8Array][] = [
      ["could not be listed", utf8("file:x\0core.bare")],
      ["could not be listed", utf8("file:x\0core.bare\0file:y\0")],
      ["could not be listed", utf8("garbage")],
      ["not UTF-8", Uint8Array.from([...listing("filter.x.clean"), 0xff, 0])],
      ["more than", new Uint8Array(MAX_LISTING_BYTES + 1)],
      [
        "to override",
        listing(...Array.from({ length: MAX_OVERRIDES }, (_, index) => `pager.${index}\nx`), "filter.x.clean\nx"),
      ],
    ];
    for (const [reason, bytes] of bad) {
      const { refusals, argv } = dangerousConfig(bytes, "STATUS");
      assert.equal(refusals.length, 1, reason);
      assert.match(refusals[0] ?? "", new RegExp(reason));
      assert.deepEqual(argv, []);
    }
  });

  it("an empty one is fine", () => {
    assert.deepEqual(dangerousConfig(new Uint8Array(), "STATUS"), {
      findings: [],
      refusals: [],
      argv: [],
      environment: {},
    });
  });
});

describe("what is found", () => {
  it("is overridden by everything that belongs to the driver", () => {
    const { argv, environment, findings } = dangerousConfig(listing("filter.My.X.smudge\ncat"), "STATUS");
    assert.deepEqual(
      argv,
      "-c filter.My.X.clean= -c filter.My.X.smudge= -c filter.My.X.process= -c filter.My.X.required=false".split(" "),
    );
    assert.deepEqual(environment, {});
    assert.deepEqual(findings, [
      {
        key: "filter.My.X.smudge",
        origin: "file:.git/config",
        remedy: "override",
        why: "runs a program on the content of files",
      },
    ]);
  });

  it("goes by a variable if its name has an equals sign", () => {
    const { argv, environment } = dangerousConfig(listing("gpg.a=b.program\nx"), "LOG");
    assert.deepEqual(argv, ["--config-env=gpg.a=b.program=NARTHEX_GIT_0"]);
    assert.deepEqual(environment, { NARTHEX_GIT_0: "/dev/null" });
  });

  it("includes a key without a value", () => {
    assert.equal(dangerousConfig(listing("pager.log"), "LOG").argv.join(" "), "-c pager.log=false");
  });

  it("leaves out what the kernel itself set, and what is harmless", () => {
    assert.deepEqual(dangerousConfig(utf8("command line:\0core.hookspath\n/dev/null\0"), "LOG").findings, []);
    assert.deepEqual(
      remedies("LOG", "user.name", "core.bare", "color.ui", "merge.conflictstyle", "diff.algorithm"),
      [],
    );
  });

  it("is refused where nothing helps", () => {
    assert.deepEqual(remedies("FETCH", "url.https://x.insteadof", "remote.x.vcs"), ["refuse", "refuse"]);
    assert.deepEqual(remedies("LOG", "url.https://x.insteadof", "remote.x.vcs"), ["unreachable", "contained"]);
    assert.deepEqual(remedies("CHECKOUT", "include.path", "includeif.onbranch:x.path"), ["refuse", "refuse"]);
    assert.deepEqual(remedies("LOG", "include.path", "includeif.onbranch:x.path"), ["contained", "contained"]);
    assert.match(
      dangerousConfig(listing("include.path\nx"), "MERGE").refusals[0] ?? "",
      /^`include.path` .*remove the include$/,
    );
  });

  it("has a rule for every key that runs a program", () => {
    const keys =
      "filter.x.clean filter.x.smudge filter.x.process diff.x.command diff.x.textconv diff.external merge.x.driver alias.x " +
      "core.hookspath core.fsmonitor core.sshcommand core.gitproxy core.alternaterefscommand core.pager core.editor " +
      "core.askpass sequence.editor remote.x.uploadpack remote.x.receivepack remote.x.vcs remote.x.proxy url.x.insteadof " +
      "url.x.pushinsteadof include.path includeif.x.path credential.helper credential.x.helper gpg.program gpg.ssh.program " +
      "gpg.ssh.defaultkeycommand browser.x.cmd man.x.cmd man.x.path difftool.x.cmd mergetool.x.cmd web.browser pager.x " +
      "interactive.difffilter submodule.x.update uploadpack.packobjectshook receive.procreceiverefs trailer.x.command " +
      "trailer.x.cmd sendemail.tocmd init.templatedir guitool.x.cmd imap.tunnel instaweb.httpd help.browser tar.x.command " +
      "hook.x.command gc.recentobjectshook branch.x.mergeoptions pull.twohead rebase.instructionformat lfs.x.path " +
      "protocol.ext.allow http.proxy http.https://x.extraheader core.worktree safe.directory trace2.eventtarget";
    for (const key of keys.split(" ")) assert.equal(remedies("PULL", key).length, 1, key);
  });

  it("has no key in the manual of the installed git that names a program and no rule", () => {
    const { stdout } = spawnSync("git", ["help", "--config"], { encoding: "utf8" });
    const documented = stdout.split("\n").filter((line) => /^[a-zA-Z0-9]+\./.test(line));
    assert.ok(documented.length > 500);
    const suspicious =
      /(?:cmd|command|program|helper|hook|hookspath|editor|pager|driver|textconv|clean|smudge|process|external|proxy|tool|browser|viewer|filter|tunnel|pack|vcs|askpass)$/;
    const harmless =
      /^(?:advice\.|color\.|column\.|pack\.|uploadpackfilter\.|notes\.|remotes?\.<name>\.partialclonefilter|completion\.commands)/;
    const unruled = documented
      .map((key) => key.replaceAll(/<[^>]*>|\*/g, "x").toLowerCase())
      .filter((key) => suspicious.test(key) && !harmless.test(key))
      .filter((key) => !CONFIG_RULES.some((rule) => rule.key.test(key)));
    assert.deepEqual(unruled, []);
  });
});

describe("names of drivers", () => {
  it("come back to git as they were, whatever they are", () => {
    const repository = new HostileRepository();
    try {
      const name = fc.stringMatching(/^[ -~äß漢]{1,12}$/);
      fc.assert(
        fc.property(name, (driver) => {
          const { argv, environment } = dangerousConfig(listing(`filter.${driver}.clean\nx`), "STATUS");
          const prefix = gitPrefix("STATUS");
          const result = spawnSync(
            "git",
            [...prefix.argv.slice(1), ...argv, "config", "--null", "--get-regexp", "^filter\\."],
            {
              cwd: repository.directory,
              env: { ...prefix.environment, ...environment },
              encoding: "utf8",
            },
          );
          const expected = ["clean\n", "smudge\n", "process\n", "required\nfalse"].map(
            (end) => `filter.${driver}.${end}\0`,
          );
          assert.equal(result.stdout, expected.join(""), result.stderr);
        }),
        { numRuns: 60 },
      );
    } finally {
      repository.remove();
    }
  });
});

describe("the prefix", () => {
  it("inherits nothing and forbids every transport to those who do not need one", () => {
    for (const operation of ["STATUS", "LOG", "DIFF", "SHOW"] as const) {
      const { environment } = gitPrefix(operation);
      assert.equal(environment["GIT_ALLOW_PROTOCOL"], "none");
      assert.equal(environment["GIT_OPTIONAL_LOCKS"], "0");
      assert.equal(environment["GIT_NO_LAZY_FETCH"], "1");
    }
    const { environment, argv } = gitPrefix("FETCH", { protocols: ["https"], path: "/bin", home: "/h" });
    assert.equal(environment["GIT_ALLOW_PROTOCOL"], "https");
    assert.equal(environment["GIT_OPTIONAL_LOCKS"], undefined);
    assert.equal(environment["PATH"], "/bin");
    assert.equal(environment["HOME"], "/h");
    assert.equal(gitPrefix("PUSH", { protocols: [] }).environment["GIT_ALLOW_PROTOCOL"], "none");
    assert.deepEqual(argv.slice(0, 2), ["git", "--no-pager"]);
  });

  it("is understood by git, and the settings arrive", () => {
    const repository = new HostileRepository();
    try {
      const { stdout } = repository.guarded("STATUS", ["config", "--get-regexp", "^(core.hookspath|gpg.program)$"]);
      assert.equal(stdout, "core.hookspath /dev/null\ngpg.program /dev/null\n");
    } finally {
      repository.remove();
    }
  });
});

describe("a transport", () => {
  it("works if it is allowed, and only then", () => {
    const repository = new HostileRepository();
    try {
      for (const [protocols, status] of [
        [["file"], 0],
        [["https"], 128],
      ] as const) {
        const built = gitArguments({ operation: "CLONE", args: ["-q", ".", "copy"] }, { protocols: ["file"] });
        assert.ok("argv" in built);
        const prefix = gitPrefix("CLONE", { protocols });
        const result = spawnSync("git", [...prefix.argv.slice(1), ...built.argv], {
          cwd: repository.directory,
          env: prefix.environment,
          encoding: "utf8",
        });
        assert.equal(result.status, status, result.stderr);
        rmSync(join(repository.directory, "copy"), { recursive: true, force: true });
      }
    } finally {
      repository.remove();
    }
  });
});

describe("a normal repository", () => {
  it("is read and written by every local operation", () => {
    const repository = new HostileRepository();
    try {
      repository.write("new.txt", "new\n");
      const run = (operation: string, ...args: string[]): string => {
        const built = gitArguments({ operation, args });
        assert.ok("argv" in built, JSON.stringify(built));
        const { status, stdout, stderr } = repository.guarded(built.operation, built.argv);
        assert.equal(status, 0, `${operation} ${args.join(" ")}: ${stderr}`);
        return stdout;
      };
      assert.match(run("STATUS", "--porcelain"), /^\?\? new.txt\n$/);
      run("ADD", "-A");
      assert.match(run("DIFF", "--cached", "--stat"), /new.txt/);
      run("COMMIT", "-qm", "second");
      assert.match(run("LOG", "--oneline", "-1"), /second/);
      assert.match(run("SHOW", "HEAD:new.txt"), /^new$/m);
      run("BRANCH", "side");
      run("CHECKOUT", "-q", "-b", "topic");
      repository.write("new.txt", "newer\n");
      run("STASH", "push", "-m", "later");
      assert.match(run("STASH", "list"), /later/);
      run("STASH", "pop");
      run("COMMIT", "-a", "-m", "third");
      run("CHECKOUT", "-q", "side");
      run("MERGE", "--no-ff", "topic");
      run("TAG", "-a", "-m", "a tag", "v1");
      assert.equal(run("TAG", "-l"), "v1\n");
      run("REMOTE", "add", "origin", "https://example.org/a/b.git");
      assert.match(run("REMOTE", "-v"), /example.org/);
      run("RESET", "--hard", "HEAD~1");
      run("REBASE", "topic");
      assert.equal(run("BRANCH", "--show-current"), "side\n");
    } finally {
      repository.remove();
    }
  });
});

describe("the list of a rebase", () => {
  it("with a line that runs a program is seen, and git would run it", () => {
    assert.equal(todoRunsPrograms(utf8("pick 123 exec x\n# exec x\nexecute\n")), false);
    for (const line of ["exec ls", "x ls", "  exec\tls", "\tx ls"])
      assert.equal(todoRunsPrograms(utf8(`pick 1 a\n${line}\n`)), true, line);
    const repository = new HostileRepository();
    try {
      repository.plain(["-c", "sequence.editor=printf 'break\\n' >", "rebase", "-i", "--root"]);
      const todo = `\tx ${repository.trap}\n`;
      repository.write(".git/rebase-merge/git-rebase-todo", todo);
      assert.equal(todoRunsPrograms(utf8(todo)), true);
      repository.guarded("REBASE", ["rebase", "--continue"]);
      assert.equal(repository.sprung(), true, "a guarded rebase does not run such a line: the check is not needed");
    } finally {
      repository.remove();
    }
  });
});

describe("the operations", () => {
  it("are declared as the tool's table says", () => {
    for (const [name, facts] of Object.entries(GIT_OPERATION_FACTS)) {
      const external = ["CLONE", "FETCH", "PULL", "PUSH"].includes(name);
      assert.equal(facts.determinism, external ? "external" : "nondeterministic", name);
      const reads = ["DIFF", "STATUS", "LOG", "SHOW"].includes(name);
      assert.equal(facts.tier, name === "PUSH" ? "privileged" : reads ? "read_only" : "side_effecting", name);
      assert.equal(facts.effects.includes("net_write"), name === "PUSH", name);
      assert.equal(facts.effects.includes("fs_write"), !facts.readOnly, name);
      assert.equal(facts.network, external, name);
    }
  });

  it("may change only the keys that belong to them", () => {
    assert.equal(isExpectedConfigChange("BRANCH", "branch.a.b.merge"), true);
    assert.equal(isExpectedConfigChange("REMOTE", "remote.x.url"), true);
    for (const key of [
      "core.hookspath",
      "filter.x.clean",
      "remote.x.uploadpack",
      "include.path",
      "branch.x.mergeoptions",
    ]) {
      for (const operation of ["CLONE", "PULL", "PUSH", "BRANCH", "CHECKOUT", "REMOTE", "LOG"] as const) {
        assert.equal(isExpectedConfigChange(operation, key), false, `${operation} ${key}`);
      }
    }
  });
});
