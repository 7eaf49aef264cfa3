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

const GLOSSARY = join("docs", "glossary.md");
const NOT_USED = "## Words that are not used";

const VAGUE_NAME = /^(?:.*[-.])?(?:utils?|helpers?|common|managers?|misc)(?:[-.].*)?$/;

/** Words and names that have no place in any file. */
export function checkWording(root = REPOSITORY): CheckResult {
  const files = listSourceFiles(root);
  const rules = [...RULES, ...nounRules(root, files)];
  const problems = files.flatMap((file) => [
    ...(file.split(sep).some((part) => VAGUE_NAME.test(part)) ? [`${file}: name it after what it does`] : []),
    ...findWords(file, readFileSync(join(root, file), "utf8"), rules),
  ]);
  return judge(problems, `${files.length} files`);
}

/** One noun stands for one thing: the glossary's other words for it are found also within names. */
function nounRules(root: string, files: readonly string[]): Rule[] {
  if (!files.includes(GLOSSARY)) return [];
  const [, table = ""] = readFileSync(join(root, GLOSSARY), "utf8").split(NOT_USED);
  const rows = [...table.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].slice(1);
  if (rows.length === 0) throw new Error(`${GLOSSARY} has no table of words that are not used`);
  return rows.map(([, words = "", noun = ""]) => {
    const pattern = new RegExp(words.split(", ").map(spellingsOf).join("|"));
    return { pattern, files: /^(?!glossary\.md$)/, reason: `say \`${noun}\`` };
  });
}

/** As words, and within names: `odd word`, `oddWord`, `anOddWord`, `ODD_WORD`; with the usual endings. */
function spellingsOf(words: string): string {
  const [first = "", ...others] = words.split(" ");
  const rest = others.map((word) => `[-_ ]?[${word[0]}${word[0]?.toUpperCase()}]${word.slice(1)}`).join("");
  const capital = `${first[0]?.toUpperCase()}${first.slice(1)}${rest}`;
  const ending = "(?:s|d|ed|ing)?(?![a-z])";
  return [
    `(?<![A-Za-z])${first}${rest}${ending}`,
    `(?<![A-Z])${capital}${ending}`,
    `(?<![A-Z])${words.toUpperCase().replaceAll(" ", "[-_ ]?")}(?![A-Z])`,
  ].join("|");
}

function findWords(file: string, text: string, all: readonly Rule[]): string[] {
  const rules = all.filter((rule) => rule.files.test(basename(file)));
  return text.split("\n").flatMap((line, index) =>
    rules.flatMap(({ pattern, reason }) => {
      const found = pattern.exec(line);
      return found === null ? [] : [`${file}:${index + 1}: \`${found[0]}\`: ${reason}`];
    }),
  );
}
