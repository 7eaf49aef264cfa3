import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type CheckResult, judge } from "./check.ts";
import { findDoorProblem } from "./kernel-entry-points.ts";
import { parseRequirement, type Requirement } from "./parse-requirement.ts";
import { REPOSITORY } from "./run-tool.ts";
import { listSourceFiles } from "./source-files.ts";
import { readTestTitles, type TestTitles } from "./test-titles.ts";

const FOLDER = "docs/requirements";
const PAGE = `${FOLDER}/README.md`;
const COUNTS = /(?<=^<!-- counts -->\n)[^]*?(?=^<!-- \/counts -->$)/m;
const TEST_FILE = /\.test\.ts$/;
/** Suites that every driver of a port runs from its own test file. */
const CONTRACT_FILE = /-contract(?:-[a-z]+)*\.ts$/;
const HOSTILE_INPUT = /^BAD-/;
/** The requirement that this check itself enforces. */
const HOSTILE_INPUTS_SENT = "BAD-01";
/** Hostile inputs that no client can send, and why: they are tested only by unit tests. */
const NOT_FROM_OUTSIDE: ReadonlyMap<string, string> = new Map([
  ["BAD-D-08", "the operating system chooses when a process number is given again, and to whom"],
]);
const ID_IN_TEXT = /(?<![\w-])[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+(?![\w-])/g;

interface PlacedRequirement extends Requirement {
  /** The file and line of the requirement. */
  readonly file: string;
  readonly place: string;
}

interface Table {
  readonly requirements: readonly PlacedRequirement[];
  readonly problems: readonly string[];
}

/**
 * Checks the requirements in `docs/requirements` against the tests: every line names tests that exist, or is pending
 * and no test has its id; each hostile input is sent through a front door by one of its tests.
 * `node scripts/checks/requirements.ts --write` writes the counts into its page.
 */
export function checkRequirements(root = REPOSITORY): CheckResult {
  const { requirements, problems } = readTable(root);
  const pending = requirements.filter(({ tests }) => tests.length === 0);
  const found = [
    ...problems,
    ...findRepeats(requirements),
    ...findMissingTests(root, requirements),
    ...findCarried(root, pending),
    ...findNotSent(root, requirements),
    ...findStaleCounts(root, requirements),
  ];
  if (requirements.length === 0 && problems.length === 0) found.push(`${FOLDER}: there are no requirements`);
  return judge(found, `${requirements.length} requirements, ${pending.length} pending`);
}

/** Writes the counts into the page. */
export function writeRequirementCounts(root = REPOSITORY): void {
  const page = readFileSync(join(root, PAGE), "utf8");
  const counts = writeCounts(readTable(root).requirements);
  writeFileSync(
    join(root, PAGE),
    page.replace(COUNTS, () => counts),
  );
}

function readTable(root: string): Table {
  const files = readdirSync(join(root, FOLDER)).filter((name) => name.endsWith(".jsonl"));
  const requirements: PlacedRequirement[] = [];
  const problems: string[] = [];
  for (const file of files.toSorted().map((name) => `${FOLDER}/${name}`)) {
    const lines = readFileSync(join(root, file), "utf8").trimEnd().split("\n");
    for (const [index, line] of lines.entries()) {
      const place = `${file}:${index + 1}`;
      const parsed = parseRequirement(line);
      if (typeof parsed === "string") problems.push(`${place}: ${parsed}`);
      else requirements.push({ ...parsed, file, place });
    }
  }
  return { requirements, problems };
}

function findRepeats(requirements: readonly PlacedRequirement[]): string[] {
  const placeOfId = new Map<string, string>();
  const placeOfText = new Map<string, string>();
  const problems: string[] = [];
  for (const { id, aliases, text, place } of requirements) {
    for (const name of [id, ...aliases]) {
      const first = placeOfId.get(name);
      if (first === undefined) placeOfId.set(name, place);
      else problems.push(`${place}: the id ${name} is used already: ${first}`);
    }
    const first = placeOfText.get(text);
    if (first === undefined) placeOfText.set(text, place);
    else problems.push(`${place}: ${id} says the same as ${first}`);
  }
  return problems;
}

function findMissingTests(root: string, requirements: readonly PlacedRequirement[]): string[] {
  const titlesOf = new Map<string, TestTitles>();
  return requirements.flatMap(({ id, tests, place }) =>
    tests.flatMap(({ file, title }) => {
      if (!existsSync(join(root, file))) return [`${place}: ${id} names ${file}, which does not exist`];
      if (!TEST_FILE.test(file) && !CONTRACT_FILE.test(file))
        return [`${place}: ${id} names ${file}, which is no test file`];
      const titles = titlesOf.get(file) ?? readTestTitles(file, readFileSync(join(root, file), "utf8"));
      titlesOf.set(file, titles);
      return titles.has(title) ? [] : [`${place}: ${id}: no test in ${file} is called \`${title}\``];
    }),
  );
}

/** Pending lines whose id occurs in a test: the test was written, but the line was not updated. */
function findCarried(root: string, pending: readonly PlacedRequirement[]): string[] {
  const carriers = new Map<string, string>();
  for (const file of ["packages", "test"].flatMap((folder) => listTestFiles(root, folder))) {
    for (const [index, line] of readFileSync(join(root, file), "utf8").split("\n").entries()) {
      for (const [id] of line.matchAll(ID_IN_TEXT)) if (!carriers.has(id)) carriers.set(id, `${file}:${index + 1}`);
    }
  }
  return pending.flatMap(({ id, aliases, place }) =>
    [id, ...aliases]
      .filter((name) => carriers.has(name))
      .map((name) => `${place}: ${id} is pending, but ${carriers.get(name)} carries ${name}: name the test`),
  );
}

/** Hostile inputs for which no named test goes through a front door. */
function findNotSent(root: string, requirements: readonly PlacedRequirement[]): string[] {
  const problemOf = new Map<string, string | undefined>();
  const examine = (file: string): string | undefined => {
    if (!problemOf.has(file)) problemOf.set(file, findDoorProblem(root, file));
    return problemOf.get(file);
  };
  return requirements.flatMap(({ id, tests, place }) => {
    if (!HOSTILE_INPUT.test(id) || tests.length === 0 || id === HOSTILE_INPUTS_SENT) return [];
    const files = new Set(tests.map(({ file }) => file).filter((file) => existsSync(join(root, file))));
    const outside = [...files].filter((file) => !file.startsWith("packages/"));
    const problems = outside.map(examine);
    const isSent = problems.includes(undefined);
    const cannotBe = NOT_FROM_OUTSIDE.get(id);
    if (isSent && cannotBe !== undefined) return [`${place}: ${id} names a test that sends it, though ${cannotBe}`];
    if (isSent || cannotBe !== undefined) return [];
    const why = problems.length === 0 ? "all its tests are in packages" : problems.join("; ");
    return [`${place}: ${id} is a hostile input, and no test sends it through a front door: ${why}`];
  });
}

function listTestFiles(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return listSourceFiles(join(root, folder))
    .filter((file) => TEST_FILE.test(file))
    .map((file) => `${folder}/${file}`);
}

function findStaleCounts(root: string, requirements: readonly PlacedRequirement[]): string[] {
  const page = existsSync(join(root, PAGE)) ? readFileSync(join(root, PAGE), "utf8") : "";
  const found = COUNTS.exec(page);
  if (found === null) return [`${PAGE}:1: there is no place for the counts: \`<!-- counts -->\`, \`<!-- /counts -->\``];
  const [counts] = found;
  const lines = counts.split("\n");
  const wanted = writeCounts(requirements).split("\n");
  if (lines.join("\n") === wanted.join("\n")) return [];
  const differing = wanted.findIndex((line, index) => line !== lines[index]);
  const place = page.slice(0, found.index).split("\n").length + Math.max(0, differing);
  return [`${PAGE}:${place}: the counts are stale: run \`node scripts/checks/requirements.ts --write\``];
}

function writeCounts(requirements: readonly PlacedRequirement[]): string {
  const areas = Map.groupBy(requirements, ({ file }) => basename(file, ".jsonl"));
  const rows = [...areas].map(([area, lines]) => [`[${area}](${area}.jsonl)`, ...countLines(lines)]);
  const all = ["all", ...countLines(requirements)].map((cell) => `**${cell}**`);
  return [["area", "held", "pending", "all"], ["---", "---:", "---:", "---:"], ...rows, all]
    .map((cells) => `| ${cells.join(" | ")} |\n`)
    .join("");
}

function countLines(requirements: readonly Requirement[]): [held: string, pending: string, all: string] {
  const held = requirements.filter(({ tests }) => tests.length > 0).length;
  return [`${held}`, `${requirements.length - held}`, `${requirements.length}`];
}

if (import.meta.main && process.argv.includes("--write")) writeRequirementCounts();
