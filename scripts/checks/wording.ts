import { readFileSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { listAddedLines } from "./added-lines.ts";
import { type CheckResult, judge } from "./check.ts";
import { REPOSITORY } from "./run-tool.ts";
import { listSourceFiles } from "./source-files.ts";

interface WordRule {
  readonly pattern: RegExp;
  readonly reason: string;
}

interface FileRule extends WordRule {
  readonly files: RegExp;
}

const ANY_FILE = /./;
const TEST_FILE = /\.test\.ts$/;

/** Spelled so that this file does not break its own rules. */
const RULES: readonly FileRule[] = [
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

/** Lines that existed at this commit may still contain words that the glossary replaces; added lines may not. */
const PLAIN_SINCE = "dd36957587a6eab103131e9c7447f8ae92b6ec53";

const VAGUE_NAME = /^(?:.*[-.])?(?:utils?|helpers?|common|managers?|misc)(?:[-.].*)?$/;

/**
 * Finds words and names that are forbidden in every file, and words that the glossary replaces in the lines added since
 * `base`.
 */
export function checkWording(root = REPOSITORY, base = PLAIN_SINCE): CheckResult {
  const files = listSourceFiles(root);
  const problems = files.flatMap((file) => [
    ...(file.split(sep).some((part) => VAGUE_NAME.test(part)) ? [`${file}: name it after what it does`] : []),
    ...findWords(file, readFileSync(join(root, file), "utf8")),
  ]);
  const added = listAddedLines(root, base);
  const looked = new Set(files);
  const replaced = added === undefined ? [] : readReplacedWords(root, files);
  for (const { file, number, text } of added ?? []) {
    if (file === GLOSSARY || !looked.has(file)) continue;
    problems.push(...replaced.flatMap((rule) => findWord(file, number, text, rule)));
  }
  const lines = added === undefined ? "no history, so added lines were not looked at" : `${added.length} added lines`;
  return judge(problems, `${files.length} files, ${lines}`);
}

/** Parses the glossary's table: each word or phrase to avoid, and the plain term. */
function readReplacedWords(root: string, files: readonly string[]): WordRule[] {
  if (!files.includes(GLOSSARY)) return [];
  const [, table = ""] = readFileSync(join(root, GLOSSARY), "utf8").split(NOT_USED);
  const rows = [...table.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].slice(1);
  if (rows.length === 0) throw new Error(`${GLOSSARY} has no table of words that are not used`);
  return rows.map(([, words = "", terms = ""]) => ({
    pattern: new RegExp(words.split(", ").map(spellingsOf).join("|")),
    reason: `say ${terms}`,
  }));
}

/** Matches the words in text and within names: `odd word`, `oddWord`, `anOddWord`, `ODD_WORD`. */
function spellingsOf(words: string): string {
  const [first = "", ...others] = words.split(" ");
  const rest = others.map((word) => `[-_ ]?[${word[0]}${word[0]?.toUpperCase()}]${word.slice(1)}`).join("");
  const capital = `${first[0]?.toUpperCase()}${first.slice(1)}${rest}`;
  return [
    // After a quotation mark it is a name: most systems have a user with such a name.
    `(?<![A-Za-z"])${first}${rest}(?![a-z])`,
    `(?<![A-Z])${capital}(?![a-z])`,
    `(?<![A-Z])${words.toUpperCase().replaceAll(" ", "[-_ ]?")}(?![A-Z])`,
  ].join("|");
}

function findWords(file: string, text: string): string[] {
  const rules = RULES.filter((rule) => rule.files.test(basename(file)));
  return text.split("\n").flatMap((line, index) => rules.flatMap((rule) => findWord(file, index + 1, line, rule)));
}

function findWord(file: string, number: number, line: string, { pattern, reason }: WordRule): string[] {
  const found = pattern.exec(line);
  return found === null ? [] : [`${file}:${number}: \`${found[0]}\`: ${reason}`];
}
