import { readFileSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { type CheckResult, judge } from "./check.ts";
import { REPOSITORY } from "./run-tool.ts";
import { listSourceFiles } from "./source-files.ts";

interface Rule {
  readonly pattern: RegExp;
  readonly files: RegExp;
  readonly reason: string;
}

const ANY_FILE = /./;
const TEST_FILE = /\.test\.ts$/;

/** Spelled so that this file does not break its own rules. */
const RULES: readonly Rule[] = [
  { pattern: /\b(?:T[O]DO|FIXM[E]|XX[X])\b/, files: ANY_FILE, reason: "finish it or leave it out" },
  {
    pattern: /\b(?:test|it|describe|suite|t|context)\.(?:only|skip|todo)\(|\b(?:only|skip|todo):\s*(?:true|["'`])/,
    files: TEST_FILE,
    reason: "every test runs",
  },
  { pattern: /registry\.[a-z]+\.(?:org|com)|"resolve[d]": "http/, files: ANY_FILE, reason: "no download addresses" },
  { pattern: /\.\.\/shared\/|\/work\/(?:main|shared)\b/, files: ANY_FILE, reason: "no path of one machine" },
];

const VAGUE_NAME = /^(?:.*[-.])?(?:utils?|helpers?|common|managers?|misc)(?:[-.].*)?$/;

/** Words and names that have no place in any file. */
export function checkWording(root = REPOSITORY): CheckResult {
  const files = listSourceFiles(root);
  const problems = files.flatMap((file) => [
    ...(file.split(sep).some((part) => VAGUE_NAME.test(part)) ? [`${file}: name it after what it does`] : []),
    ...findWords(file, readFileSync(join(root, file), "utf8")),
  ]);
  return judge(problems, `${files.length} files`);
}

function findWords(file: string, text: string): string[] {
  const rules = RULES.filter((rule) => rule.files.test(basename(file)));
  return text.split("\n").flatMap((line, index) =>
    rules.flatMap(({ pattern, reason }) => {
      const found = pattern.exec(line);
      return found === null ? [] : [`${file}:${index + 1}: \`${found[0]}\`: ${reason}`];
    }),
  );
}
