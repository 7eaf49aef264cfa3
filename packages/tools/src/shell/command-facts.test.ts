import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type CommandFacts, commandFacts } from "./command-facts.ts";
import { MAX_ARGUMENTS, MAX_OPENINGS, MAX_PARSED_COMMAND, MAX_PROGRAMS } from "./command-limits.ts";
import { EVASIONS } from "./testing/evasions.ts";
import { PLAIN_COMMANDS } from "./testing/plain-commands.ts";

function programLines({ programs }: CommandFacts): string[] {
  return programs.map(({ name, args }) => [name, ...args].join(" "));
}

describe("a command that is not literal", () => {
  for (const [command, reason, programs] of EVASIONS) {
    it(`${JSON.stringify(command.slice(0, 60))}: ${reason}`, () => {
      const facts = commandFacts(command);
      assert.equal(facts.literal, false);
      assert.equal(facts.reason.slice(0, reason.length), reason);
      if (!reason.startsWith("too many")) assert.equal(programLines(facts).join("; "), programs);
    });
  }

  it("the collection is as large as it should be, and has no doubles", () => {
    assert.ok(EVASIONS.length >= 80);
    assert.equal(new Set(EVASIONS.map(([command]) => command)).size, EVASIONS.length);
  });
});

describe("a literal command", () => {
  for (const [command, programs] of PLAIN_COMMANDS) {
    it(JSON.stringify(command), () => {
      const facts = commandFacts(command);
      assert.equal(facts.reason, "");
      assert.equal(facts.literal, true);
      const marked = facts.programs.map(
        ({ name, args, interpreter, writes }) =>
          `${[name, ...args].join(" ")}${interpreter ? "!" : ""}${writes ? "+" : ""}`,
      );
      assert.equal(marked.join("; "), programs);
      assert.equal(
        facts.programs.every(({ literal }) => literal),
        true,
      );
    });
  }
});

describe("the facts", () => {
  it("have one shape, whatever the command", () => {
    assert.deepEqual(commandFacts("CI=1 timeout 9 cat <in >>'out file' 2>&1 && cd x &"), {
      literal: true,
      reason: "",
      programs: [
        { name: "timeout", args: ["9", "cat"], literal: true, interpreter: false, writes: false, via: "" },
        { name: "cat", args: [], literal: true, interpreter: false, writes: false, via: "timeout" },
        { name: "cd", args: ["x"], literal: true, interpreter: false, writes: false, via: "" },
      ],
      names: ["timeout", "cat", "cd"],
      subcommands: ["timeout 9", "cat", "cd x"],
      redirections: [
        { path: "in", mode: "read" },
        { path: "out file", mode: "append" },
      ],
      assignments: [{ name: "CI", value: "1" }],
      interpreter: false,
      writes: false,
      background: true,
      changes_directory: true,
      non_ascii: false,
    } satisfies CommandFacts);
    const keys = Object.keys(commandFacts("ls"));
    for (const [command] of EVASIONS) assert.deepEqual(Object.keys(commandFacts(command)), keys);
  });

  it("name every file the shell opens, and how", () => {
    const { literal, redirections } = commandFacts("a <b >c >|d >>e <>f >&i 2>j 2>&1 <&- <<<k");
    assert.equal(literal, true);
    assert.deepEqual(
      redirections.map(({ path, mode }) => `${path} ${mode}`),
      "b read,c write,d write,e append,f read_write,i write,j write".split(","),
    );
    assert.deepEqual(commandFacts("a &>x").redirections, [{ path: "x", mode: "write" }]);
    assert.deepEqual(commandFacts("a &>>x").redirections, [{ path: "x", mode: "append" }]);
    assert.deepEqual(commandFacts("{ a; } > x").redirections, [{ path: "x", mode: "write" }]);
    assert.deepEqual(commandFacts("(a) < x").redirections, [{ path: "x", mode: "read" }]);
  });

  it("say when something is not ASCII", () => {
    assert.equal(commandFacts("echo größe").non_ascii, true);
    assert.equal(commandFacts("echo size").non_ascii, false);
  });

  it("are JSON", () => {
    for (const [command] of [...EVASIONS, ...PLAIN_COMMANDS]) {
      const facts = commandFacts(command);
      assert.deepEqual(JSON.parse(JSON.stringify(facts)), facts);
    }
  });
});

describe("the bounds", () => {
  it("a command that is too long, or has too many brackets, is not parsed", () => {
    for (const size of [64 * 1024 + 1, 1024 * 1024]) {
      const { literal, programs } = commandFacts(`ls ${"a".repeat(size - 3)}`);
      assert.deepEqual([literal, programs], [false, []], `${size} bytes`);
    }
    assert.match(commandFacts(`ls ${"x".repeat(MAX_PARSED_COMMAND)}`).reason, /^longer than/);
    assert.match(commandFacts("x".repeat(2 ** 20)).reason, /^longer than/);
    for (const opening of ["{", "(", "`", "[", "$(", "{a,", "$((", '"$(']) {
      const facts = commandFacts(opening.repeat(MAX_OPENINGS + 1));
      assert.match(facts.reason, /brackets$/, opening);
      assert.deepEqual(facts.programs, []);
    }
  });

  it("nesting up to that number ends in an answer", () => {
    for (const [open, close] of [
      ["$(", ")"],
      ["(", ")"],
      ["{ ", ";}"],
      ['"$(', ')"'],
      ["${a:-", "}"],
      ["if ", ""],
      ["! ", ""],
      ["case a in a) ", ";; esac"],
      ["<(", ")"],
    ] as const) {
      const facts = commandFacts(`echo ${open.repeat(MAX_OPENINGS)}rm x${close.repeat(MAX_OPENINGS)}`);
      assert.equal(facts.literal && open !== "if " && open !== "! ", false, open);
    }
    assert.equal(commandFacts(`${"(".repeat(100)}ls${")".repeat(100)}`).literal, false);
  });

  it("more programs, arguments, files or variables than are listed are not literal", () => {
    const many = commandFacts(`${"ls;".repeat(MAX_PROGRAMS)} rm x`);
    assert.match(many.reason, /programs$/);
    assert.equal(many.programs.length, MAX_PROGRAMS);
    const wide = commandFacts(`ls ${"x ".repeat(MAX_ARGUMENTS + 1)}`);
    assert.match(wide.reason, /arguments$/);
    assert.equal(wide.programs[0]?.args.length, MAX_ARGUMENTS);
    assert.match(commandFacts(`ls ${"<x ".repeat(65)}`).reason, /redirections$/);
    assert.match(commandFacts(`${"CI=1 ".repeat(65)}ls`).reason, /variables$/);
  });

  it("the time for one command is reported", (context) => {
    const commands = PLAIN_COMMANDS.map(([command]) => command);
    const ROUNDS = 50;
    let literal = 0;
    const readAll = (rounds: number): void => {
      for (let round = 0; round < rounds; round++) {
        for (const command of commands) literal += Number(commandFacts(command).literal);
      }
    };
    readAll(ROUNDS);
    // The processor's time: other work on the machine does not count.
    const start = process.cpuUsage();
    readAll(ROUNDS);
    const { user, system } = process.cpuUsage(start);
    const microseconds = (user + system) / (ROUNDS * commands.length);
    assert.equal(literal, 2 * ROUNDS * commands.length);
    context.diagnostic(
      `${microseconds.toFixed(2)} microseconds of processor time a command, over ${commands.length} commands`,
    );
  });
});
