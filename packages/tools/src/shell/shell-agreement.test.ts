import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { RUNS_ALL } from "../../../../test/sampled.ts";
import { commandFacts } from "./command-facts.ts";

/** Ends what is written down of a program; no command below has it, as an argument may end with a line. */
const END = "\u0001";
/** Only stubs can be run: they write down their names and arguments. */
const PROGRAMS = ["aa", "bb", "cc"];
const STUB = `#!/bin/sh
printf '%s\\0' "\${0##*/}" "$@" '${END}' >> "$LOG"
`;
const PIECES = [
  ..."aa bb cc x -n 'q r' \"d e\" \\\\ ' \" \\ $ ! # ~ { } {} , .. = : ; & && | || ( ) < > >> 2>&1 <<< >| &> * ? [ ]".split(
    " ",
  ),
  ..."$x $(aa) `bb` ${x} $'c' $\"c\" x=1 if then fi else do done for in while case esac ;; time @{1} ^ % - --".split(
    " ",
  ),
  ..."[[ ]] (( )) <<E E <(aa) \\\n \n \t ' ' é\u{a0}".split(" "),
  " ",
  " ",
  " ",
  " ",
];
const RUNS = Number(process.env["NARTHEX_SHELL_RUNS"] ?? 400);

describe("real shells", () => {
  let directory = "";
  before(() => {
    directory = mkdtempSync(join(tmpdir(), "narthex-shells-"));
    mkdirSync(join(directory, "bin"));
    for (const name of PROGRAMS) writeFileSync(join(directory, "bin", name), STUB, { mode: 0o755 });
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  /** Which programs a shell really ran, each as its name and arguments. */
  function run(shell: string, command: string): string[] {
    const workspace = mkdtempSync(join(directory, "run-"));
    const log = `${workspace}.log`;
    const env = { PATH: join(directory, "bin"), LOG: log };
    // What it left running is waited for.
    spawnSync(shell, ["-c", `${command}\nwait`], { cwd: workspace, env, stdio: "ignore", timeout: 5000 });
    rmSync(workspace, { recursive: true });
    const written = existsSync(log) ? readFileSync(log, "utf8") : "";
    rmSync(log, { force: true });
    return written.split(`${END}\0`).slice(0, -1);
  }

  const command = fc
    .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 14 })
    .map((pieces) => pieces.join(""));
  /** Sentences that are more often right: words and operators with blanks between. */
  const sentence = fc
    .array(
      fc.tuple(
        fc.constantFrom(
          "aa",
          "bb",
          "'cc'",
          "a\\a",
          'b"b"',
          "CI=1 aa",
          "! bb",
          "time cc",
          "(aa)",
          "{ bb; }",
          "if aa; then bb; fi",
        ),
        fc.array(
          fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join("")),
          {
            maxLength: 3,
          },
        ),
        fc.constantFrom(" && ", " ; ", "\n", " | ", " || ", " & ", " >x ;", " <<E\nq r\nE\n"),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) =>
      parts
        .map(([program, args, end]) => `${[program, ...args].join(" ")}${end}`)
        .join("")
        .trim(),
    );

  for (const shell of ["/bin/bash", "/bin/dash", "/bin/sh"].filter((path) => existsSync(path))) {
    it(`${shell} runs nothing of a literal command but what the facts name`, (context) => {
      let literal = 0;
      let ran = 0;
      fc.assert(
        fc.property(fc.oneof({ arbitrary: sentence, weight: 3 }, command), (text) => {
          const facts = commandFacts(text);
          if (!facts.literal) return;
          literal++;
          const expected = facts.programs.map(({ name, args }) => [name, ...args, ""].join("\0"));
          for (const program of run(shell, text)) {
            ran++;
            const at = expected.indexOf(program);
            assert.notEqual(
              at,
              -1,
              `${JSON.stringify(text)} ran ${JSON.stringify(program)}, not one of ${JSON.stringify(expected)}`,
            );
            expected.splice(at, 1);
          }
        }),
        { numRuns: RUNS },
      );
      // A search that runs nothing has found nothing.
      assert.ok(ran > 10, `only ${ran} programs ran`);
      context.diagnostic(`${literal} of ${RUNS} commands were literal, ${ran} programs ran`);
    });
  }
});

describe("any text", () => {
  it("gets an answer, the same every time", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(text, (command) => {
        const facts = commandFacts(command);
        assert.deepEqual(commandFacts(command), facts);
        assert.equal(facts.literal, facts.reason === "");
        assert.ok(!facts.literal || facts.programs.length > 0);
      }),
      { numRuns: RUNS_ALL ? 2000 : 600 },
    );
  });

  it("with single quotes around any visible text is one literal argument", () => {
    const visible = fc.string({
      unit: fc.constantFrom(...'abc $`\\"(){}[]*?~!&|;<>#^=\n\t-_é漢'.split("")),
      maxLength: 40,
    });
    fc.assert(
      fc.property(visible, (argument) => {
        // Looks like an operator that is continued on the next line, and is refused even in quotes.
        fc.pre(!/[&|;<>(){}]\\\n/.test(argument));
        const facts = commandFacts(`echo '${argument}'`);
        assert.equal(facts.reason, "");
        assert.deepEqual(facts.programs[0]?.args, [argument]);
      }),
    );
  });

  it("an expansion put anywhere outside single quotes of a plain command is seen", () => {
    const expansion = fc.constantFrom(
      "$(rm x)",
      "`rm x`",
      "$x",
      "${x}",
      "$((1))",
      "$'x'",
      "<(rm x)",
      "*",
      "{a,b}",
      "!x",
    );
    const argument = fc.stringMatching(/^[a-z./-]{0,6}$/);
    fc.assert(
      fc.property(fc.array(argument, { maxLength: 4 }), argument, expansion, argument, (before, left, put, right) => {
        assert.equal(commandFacts(["echo", ...before, `${left}${put}${right}`].join(" ")).literal, false);
      }),
    );
  });
});
