import type { Check } from "../check.ts";
import { excerpt, expect } from "../outcome.ts";
import { MISTAKE } from "../project.ts";

const RUN_TESTS = { call: "shell_exec", input: { command: "npm test" } };

export const loop: Check = {
  name: "loop",
  title: "the model lists, searches, reads, tests, edits, tests again and commits",
  async run(site) {
    await using run = await site.start([
      { call: "file_list", input: { path: "." } },
      { call: "file_search", input: { pattern: "sum" } },
      { call: "file_read", input: { path: "src/sum.js" } },
      RUN_TESTS,
      { call: "file_edit", input: { path: "src/sum.js", old_content: MISTAKE.wrong, new_content: MISTAKE.right } },
      RUN_TESTS,
      // As declared: some clients validate a call's input before they send it.
      { call: "git", input: { operation: "STATUS" } },
      { call: "git", input: { operation: "DIFF" } },
      { call: "git", input: { operation: "ADD", args: ["--all"] } },
      { call: "git", input: { operation: "COMMIT", args: ["-m", "correct the sum"] } },
    ]);
    const { code, output, results } = await run.end();
    const expected: readonly [string, RegExp][] = [
      ["file_list", /sum\.js|src/],
      ["file_search", /sum\.test\.js/],
      ["file_read", /a - b/],
      ["npm test", /fail 1/],
      ["file_edit", /./],
      ["npm test after the edit", /fail 0/],
      ["git status", /src\/sum\.js/],
      ["git diff", /\+\s*return a \+ b/],
      ["git add", /./],
      ["git commit", /correct the sum/],
    ];
    for (const [index, [name, pattern]] of expected.entries()) {
      const text = results[index];
      expect(text !== undefined, `the model was given no result of ${name}: ${excerpt(output.slice(-400))}`);
      expect(pattern.test(text), `${name}: ${excerpt(text)}`);
    }
    expect(code === 0, `the client ended with ${code}: ${excerpt(output.slice(-400))}`);
    const log = await site.git("log", "--format=%s", "-1");
    expect(log.trim() === "correct the sum", `the last commit is ${excerpt(log)}`);
    const files = (await site.git("show", "--format=", "--name-only", "HEAD")).trim();
    expect(files === "src/sum.js", `the commit has ${excerpt(files)}`);
    return undefined;
  },
};
