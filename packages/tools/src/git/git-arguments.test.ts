import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GIT_OPERATIONS, MAX_REPEATED_ITEMS } from "@narthex/contracts";
import fc from "fast-check";
import { gitArguments } from "./git-arguments.ts";
import { GIT_GRAMMARS, type GitGrammar } from "./git-grammars.ts";
import { GIT_OPERATION_FACTS, type GitOperationName } from "./git-operations.ts";
import { HostileRepository } from "./testing/hostile-repository.ts";

const OPERATIONS = Object.keys(GIT_OPERATION_FACTS) as GitOperationName[];

function refusals(operation: string, args: readonly string[], protocols?: readonly string[]): string[] {
  const built = gitArguments({ operation, args }, protocols === undefined ? {} : { protocols });
  return "violations" in built ? built.violations.map(({ field, rule }) => `${field} ${rule}`) : [];
}

function argv(operation: string, ...args: string[]): string {
  const built = gitArguments({ operation, args });
  assert.ok("argv" in built, JSON.stringify(built));
  return built.argv.join(" ");
}

describe("what git is never given", () => {
  const never = [
    "-c",
    "-cx=y",
    "--config-env=a=b",
    "-C",
    "-C/x",
    "--exec-path=/x",
    "--git-dir=/x",
    "--work-tree=/x",
    "--namespace=x",
    "--upload-pack=x",
    "--upload-pac=x",
    "--receive-pack=x",
    "--receive-p=x",
    "--exec=x",
    "--exec",
    "-x",
    "--output=x",
    "--output",
    "--outpu=x",
    "-o/x",
    "-O/x",
    "-Ox",
    "--ext-diff",
    "--ext",
    "--textconv",
    "--filters",
    "--open-files-in-pager",
    "--pathspec-from-file=x",
    "--pathspec-from-file",
    "--no-index",
    "--stdin",
    "--interactive",
    "--patch-mode",
    "--template=x",
    "--config=x=y",
    "--separate-git-dir=x",
    "--reference=x",
    "--recurse-submodules",
    "--recursive",
    "--bundle-uri=x",
    "--server-option=x",
    "--trailer=x",
    "--gpg-sign",
    "-Sx",
    "--show-signature",
    "--signed",
    "--edit",
    "-e",
    "--edit-description",
    "--edit-todo",
    "--file=x",
    "--alternate-refs",
    "--remerge-diff",
    "--submodule=diff",
    "--end-of-options",
    "--no-such-option",
    "--help",
    "-h",
  ];
  /** The same letters mean something harmless in these. */
  const harmless = new Set(
    "-c BRANCH,-C DIFF,-C LOG,-C SHOW,-C/x DIFF,-C/x LOG,-C/x SHOW,-C BRANCH,-C COMMIT,-C/x COMMIT,-Sx DIFF,-Sx LOG,-Sx SHOW,-o/x CLONE,-Sx STASH".split(
      ",",
    ),
  );
  for (const option of never) {
    it(option, () => {
      for (const operation of OPERATIONS) {
        const found = refusals(operation, [option, "value"]);
        if (!harmless.has(`${option} ${operation}`)) assert.notDeepEqual(found, [], `${operation} ${option}`);
      }
    });
  }

  it("an interactive patch mode, where -p would ask", () => {
    for (const operation of ["ADD", "COMMIT", "CHECKOUT", "RESET", "STASH"]) {
      assert.deepEqual(refusals(operation, ["-p"]), ["args[0] not_allowed"], operation);
      assert.deepEqual(refusals(operation, ["--patch"]), ["args[0] not_allowed"], operation);
    }
    assert.match(argv("LOG", "-p"), / -p$/);
  });

  it("an abbreviation of anything that is allowed", () => {
    for (const operation of OPERATIONS) {
      for (const grammar of grammars(operation)) {
        const names = [...grammar.flags, ...grammar.values, ...grammar.attached, ...grammar.lastDefaults];
        for (const name of names.filter((option) => option.startsWith("--"))) {
          const short = name.slice(0, -1);
          if (names.includes(short) || short === "--") continue;
          assert.notDeepEqual(refusals(operation, [short]), [], `${operation} ${short}`);
        }
      }
    }
  });

  it("a subcommand that is not known", () => {
    for (const args of [["store"], ["save"], ["-v", "update"], ["push", "-p"]]) {
      if (args[0] !== "-v") assert.notDeepEqual(refusals("STASH", args), [], args.join(" "));
    }
    for (const args of [
      ["update"],
      ["prune", "origin"],
      ["set-head", "origin", "-a"],
      ["add", "-f", "a", "https://x/y"],
    ]) {
      assert.notDeepEqual(refusals("REMOTE", args), [], args.join(" "));
    }
  });

  it("an operand that only `--` keeps from being an option, where it is no path", () => {
    for (const operation of ["CLONE", "FETCH", "PULL", "PUSH", "BRANCH", "TAG", "MERGE", "REBASE"]) {
      assert.notDeepEqual(refusals(operation, ["--", "https://a/b", "--upload-pack=x"]), [], operation);
    }
    assert.equal(argv("ADD", "--", "-rf", "--all"), "add -- -rf --all");
  });

  it("the end of options as the value of an option", () => {
    assert.deepEqual(refusals("BRANCH", ["--contains", "--", "--edit-description"]), [
      "args[1] format",
      "args[2] not_allowed",
    ]);
    assert.equal(argv("TAG", "--format", "--", "x"), "tag --format=-- x");
  });

  it("files outside, to compare without a repository", () => {
    assert.deepEqual(refusals("DIFF", ["--", "/etc/passwd", "../x"]), ["args[1] no_traversal", "args[2] no_traversal"]);
    assert.deepEqual(refusals("DIFF", ["HEAD..main"]), []);
  });

  it("a merge strategy that is a program", () => {
    assert.deepEqual(refusals("MERGE", ["-s", "evil", "x"]), ["args[1] one_of"]);
    assert.deepEqual(refusals("REBASE", ["--strategy=evil"]), ["args[0] one_of"]);
    assert.deepEqual(refusals("PULL", ["-Xours", "-s", "ort", "origin"]), []);
  });

  it("NUL, half characters, too much, or an unknown operation", () => {
    assert.deepEqual(refusals("ADD", ["a\0b", "\ud800"]), ["args[0] no_nul", "args[1] format"]);
    assert.deepEqual(refusals("ADD", ["x".repeat(40_000)]), ["args[0] max_length"]);
    assert.deepEqual(refusals("ADD", new Array<string>(MAX_REPEATED_ITEMS + 1).fill("x")), ["args max_items"]);
    for (const name of ["", "add", "GC", "constructor", "__proto__"])
      assert.deepEqual(refusals(name, []), ["operation one_of"]);
  });
});

describe("repositories", () => {
  const refused = [
    "ext::sh -c x",
    "ext::x",
    "fd::3",
    "foo::https://x",
    "transport::x",
    "EXT::x",
    "file:///etc",
    "FILE:///etc",
    "/etc",
    "./x",
    "../x",
    "..",
    "git://x/y",
    "ftp://x/y",
    "ssh://-oProxyCommand=x/y",
    "ssh://-oProxyCommand=x@host/y",
    "-oProxyCommand=x:y",
    "https://",
    "https:///x",
    "https://user:secret@host/x",
    "https://x/y z",
    "https://x/y\nz",
    "",
  ];
  for (const url of refused) {
    it(`${JSON.stringify(url)} is refused`, () => {
      for (const operation of ["CLONE", "FETCH", "PULL", "PUSH"]) {
        assert.notDeepEqual(refusals(operation, ["--", url]), [], operation);
        assert.notDeepEqual(refusals(operation, [url]), [], operation);
      }
      assert.notDeepEqual(refusals("REMOTE", ["add", "x", url]), []);
      assert.notDeepEqual(refusals("REMOTE", ["set-url", "x", url]), []);
    });
  }

  it("addresses of the allowed schemes, and remotes by name, are not", () => {
    for (const url of [
      "https://github.com/a/b.git",
      "HTTPS://x/y",
      "https://user@host:8443/x",
      "git@github.com:a/b.git",
      "ssh://git@x/y",
    ]) {
      for (const operation of ["CLONE", "FETCH", "PULL", "PUSH"]) assert.deepEqual(refusals(operation, [url]), [], url);
    }
    assert.equal(
      argv("PUSH", "-u", "origin", "HEAD:main"),
      "push --no-signed --recurse-submodules=no -u origin HEAD:main",
    );
    assert.deepEqual(refusals("CLONE", ["origin"]), ["args[0] format"]);
    assert.deepEqual(refusals("CLONE", ["/srv/x"], ["file"]), []);
    assert.deepEqual(refusals("CLONE", ["git@x:y"], ["https"]), ["args[0] format"]);
  });
});

describe("what is built", () => {
  it("has each option for itself, with its value", () => {
    assert.equal(argv("COMMIT", "-am", "a message"), "commit -a -m a message");
    assert.equal(argv("COMMIT", "-amx"), "commit -a -m x");
    assert.equal(argv("COMMIT", "-m", "--exec"), "commit -m --exec");
    assert.equal(argv("COMMIT", "--message", "-x"), "commit --message=-x");
    assert.equal(
      argv("LOG", "-5", "--format=%H", "HEAD@{1}", "--", "a"),
      "log --no-show-signature --no-ext-diff --no-textconv -n 5 --format=%H HEAD@{1} -- a",
    );
    assert.equal(
      argv("DIFF", "--stat", "-M50%"),
      "diff --no-ext-diff --no-textconv --ignore-submodules=dirty --stat -M50%",
    );
    assert.equal(argv("DIFF", "-U5", "--unified=3").slice(-16), " -U5 --unified=3".slice(-16));
    assert.deepEqual(refusals("DIFF", ["-U", "--output=x"]), ["args[1] not_allowed"]);
    assert.deepEqual(refusals("LOG", ["--encoding", "--", "--output=x"]), ["args[2] not_allowed"]);
    assert.equal(argv("CHECKOUT", "-"), "checkout --no-recurse-submodules -");
    assert.equal(argv("STASH"), "stash");
    assert.equal(argv("STASH", "show", "stash@{0}"), "stash show --no-ext-diff --no-textconv stash@{0}");
    assert.equal(argv("REMOTE", "-v"), "remote -v");
    assert.equal(argv("REMOTE", "show", "origin"), "remote show -n origin");
    assert.equal(argv("BRANCH", "--contains", "HEAD"), "branch --contains=HEAD");
  });

  it("leaves an operation that continues alone", () => {
    assert.equal(argv("REBASE", "--continue"), "rebase --continue");
    assert.equal(argv("MERGE", "--abort"), "merge --abort");
    assert.deepEqual(refusals("REBASE", ["--continue", "-q"]), ["args[0] exclusive"]);
    assert.deepEqual(refusals("MERGE", ["-m"]), ["args[0] required"]);
  });

  it("knows the operations of the wire, no more and no fewer", () => {
    assert.deepEqual(new Set(OPERATIONS), new Set<string>(GIT_OPERATIONS));
  });

  it("starts with the command, and has nothing after it that the grammar does not name", () => {
    const words = fc.constantFrom(
      ..."-a -m --exec --upload-pack=x -- - --all HEAD x -c ext::x --output=x -x --contains --format -n 5 -am --stat=1 ../x push add".split(
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.constantFrom(...OPERATIONS), fc.array(words, { maxLength: 6 }), (operation, args) => {
        const built = gitArguments({ operation, args });
        if ("violations" in built) return;
        assert.equal(built.argv[0], GIT_OPERATION_FACTS[operation].command);
        const allowed = grammars(operation).flatMap((grammar) => [
          ...grammar.flags,
          ...grammar.values,
          ...grammar.attached,
          ...grammar.lastDefaults,
          ...grammar.forced,
        ]);
        const takers = new Set(grammars(operation).flatMap((grammar) => [...grammar.values]));
        const end = built.argv.indexOf("--", 1);
        const options = end === -1 ? built.argv : built.argv.slice(0, end);
        for (const [at, word] of options.entries()) {
          if (!word.startsWith("-") || word === "-" || takers.has(options[at - 1] ?? "")) continue;
          const name = word.startsWith("--") && !allowed.includes(word) ? word.split("=", 1)[0] : word;
          assert.ok(
            allowed.includes(name ?? "") || allowed.includes(word.slice(0, 2)),
            `${word} in ${built.argv.join(" ")}`,
          );
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe("the installed git", () => {
  for (const operation of OPERATIONS) {
    it(`knows every option of ${operation}, and whether it takes a value`, () => {
      const repository = new HostileRepository();
      try {
        const wrong: string[] = [];
        const whole = GIT_GRAMMARS[operation];
        for (const [name, grammar] of whole.subcommands ?? new Map([["", whole]])) {
          const command = [GIT_OPERATION_FACTS[operation].command, ...(name === "" ? [] : [name])];
          // Without a stash these two look at nothing; their options are those of LOG and DIFF.
          if (operation === "STASH" && (name === "list" || name === "show")) continue;
          const alone = [...grammar.flags, ...grammar.attached, ...grammar.forced, ...grammar.lastDefaults];
          const values = [...grammar.values];
          const withValue = (option: string): string => (option.startsWith("--") ? `${option}=1` : option);
          const asked = ["--no-such-option", ...alone, ...values.map(withValue)];
          const answers = repository.plainAll(asked.map((option) => [...command, option]));
          const said = new Map(asked.map((option, index) => [option, answers[index] ?? ""]));
          const run = (...args: string[]) => repository.plain([...command, ...args]).stderr;
          const isKnown = (option: string) =>
            !isUnknown(said.get(option) ?? run(option)) || !isUnknown(run(option, "HEAD"));
          if (alone.length > 0)
            assert.equal(isKnown("--no-such-option"), false, `${command.join(" ")} takes any option`);
          for (const option of alone) {
            // It would swallow what follows it.
            if (takesValue(said.get(option) ?? "")) wrong.push(`${option} takes a value`);
            else if (!isKnown(option) && !(grammar.attached.has(option) && isKnown(`${option}=1`))) {
              wrong.push(`${option} is unknown`);
            }
          }
          for (const option of values) {
            const known = option.startsWith("--") ? isKnown(withValue(option)) : takesValue(said.get(option) ?? "");
            if (!known) wrong.push(`${option} does not take a value`);
          }
        }
        assert.deepEqual(wrong, []);
      } finally {
        repository.remove();
      }
    });
  }
});

function takesValue(said: string): boolean {
  return /requires a value|requires an argument/.test(said);
}

function isUnknown(said: string): boolean {
  return /unknown option|unknown switch|unrecognized argument|invalid option|^usage: git diff/im.test(said);
}

function grammars(operation: GitOperationName): GitGrammar[] {
  const grammar = GIT_GRAMMARS[operation];
  return [grammar, ...(grammar.subcommands?.values() ?? [])];
}
