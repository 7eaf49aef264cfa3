/** One requirement, and the tests that prove it; without a test it is pending. */
export interface Requirement {
  readonly id: string;
  /** Other names of the same requirement. */
  readonly aliases: readonly string[];
  readonly text: string;
  readonly tests: readonly NamedTest[];
}

export interface NamedTest {
  readonly file: string;
  readonly title: string;
}

const ID = /^[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+$/;
const NAMED_TEST = /^(\S+\.ts): (\S.*)$/;
const KEYS = new Set(["id", "aliases", "text", "test"]);
const PENDING = "pending";

/** Parses one line of a file of requirements, or returns what is wrong with it. */
export function parseRequirement(line: string): Requirement | string {
  const value = parseObject(line);
  if (value === undefined) return "this line is no JSON object";
  const unknownKey = Object.keys(value).find((key) => !KEYS.has(key));
  if (unknownKey !== undefined) return `\`${unknownKey}\` is not known here; there are: ${[...KEYS].join(", ")}`;
  const { id, aliases = [], text, test } = value;
  if (!isId(id)) return "the id is missing, or not of the form AREA-NAME-01";
  if (!Array.isArray(aliases) || !aliases.every(isId)) return `${id}: the aliases are not a list of ids`;
  if (typeof text !== "string" || text.trim() === "") return `${id} has no text`;
  const tests = parseTests(test);
  if (tests === undefined) return `${id} has neither a test (\`file: title\`) nor \`pending\``;
  return { id, aliases, text, tests };
}

function parseObject(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function isId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/** An empty list for `pending`, the named tests, or undefined for any other value. */
function parseTests(value: unknown): readonly NamedTest[] | undefined {
  if (value === PENDING) return [];
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  const tests = names.map((name) => (typeof name === "string" ? NAMED_TEST.exec(name) : null));
  if (tests.length === 0 || tests.includes(null)) return undefined;
  return tests.map((found) => ({ file: found?.[1] ?? "", title: found?.[2] ?? "" }));
}
