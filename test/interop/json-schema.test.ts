import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isKernelError, type JsonObject, type JsonValue, type Violation } from "@narthex/contracts";
import { compileSchema } from "../../packages/kernel/src/schema/compile-schema.ts";
import type { CompiledSchema } from "../../packages/kernel/src/schema/compiled-schema.ts";
import { DESCRIBED_FORMATS, SCHEMA_DIFFERENCES } from "./schema-differences.ts";

/** Where Debian's libtest-json-schema-acceptance-perl puts the official suite. */
const SUITE = "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests/draft2020-12";
/** Those of the suite of 2023; fewer means that files were not read. */
const LEAST_REQUIRED = 1176;
const LEAST_OPTIONAL = 612;

interface Group {
  readonly file: string;
  readonly description: string;
  readonly schema: JsonObject | boolean;
  readonly tests: readonly { readonly description: string; readonly data: JsonValue; readonly valid: boolean }[];
}

type Verdict = "as expected" | "refused" | "stricter" | "looser";

interface Judged {
  readonly file: string;
  readonly group: string;
  readonly test: string;
  readonly verdict: Verdict;
  /** Of the refused schema. */
  readonly problems: readonly Violation[];
  /** Formats that nothing checked. */
  readonly described: readonly string[];
}

const judged = readGroups().flatMap(judge);
const required = judged.filter(({ file }) => !file.startsWith("optional/"));
const optional = judged.filter(({ file }) => file.startsWith("optional/"));

test("the official suite is present and complete", (t) => {
  assert.ok(required.length >= LEAST_REQUIRED, `${required.length} required cases`);
  assert.ok(optional.length >= LEAST_OPTIONAL, `${optional.length} optional cases`);
  for (const [name, cases] of Object.entries({ required, optional })) {
    const counts = Object.entries(Object.groupBy(cases, ({ verdict }) => verdict));
    t.diagnostic(
      `${name}: ${cases.length} cases; ${counts.map(([verdict, found]) => `${found.length} ${verdict}`).join(", ")}`,
    );
  }
});

test("no invalid value is accepted by a required case, whatever is listed", () => {
  assert.deepEqual(required.filter(({ verdict }) => verdict === "looser").map(nameOf), []);
});

test("no valid value is rejected by a required case with a supported schema, whatever is listed", () => {
  assert.deepEqual(required.filter(({ verdict }) => verdict === "stricter").map(nameOf), []);
});

test("an invalid value is accepted only where its format is listed as described, and the schema says so", () => {
  const looser = optional.filter(({ verdict }) => verdict === "looser");
  for (const one of looser) {
    assert.ok(
      one.described.some((format) => DESCRIBED_FORMATS.includes(format)),
      nameOf(one),
    );
  }
  const seen = new Set(looser.flatMap(({ described }) => described));
  assert.deepEqual([...seen].sort(), [...DESCRIBED_FORMATS]);
});

test("every other difference is listed with its reason, and every listed one is still a difference", () => {
  const found = new Set(
    judged.filter(({ verdict }) => verdict === "refused" || verdict === "stricter").map(differenceOf),
  );
  const listed = SCHEMA_DIFFERENCES.flatMap(({ verdict, rule, cases }) =>
    Object.entries(cases).flatMap(([file, names]) => names.map((name) => line(verdict, rule, file, name))),
  );
  assert.equal(new Set(listed).size, listed.length);
  assert.deepEqual([...found].sort(), listed.sort());
  for (const { reason } of SCHEMA_DIFFERENCES) assert.match(reason, /^\S.{30,}/);
});

function readGroups(): Group[] {
  const files = readdirSync(SUITE, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"));
  return files.sort().flatMap((file) => {
    const groups = JSON.parse(readFileSync(join(SUITE, file), "utf8")) as Omit<Group, "file">[];
    return groups.map((group) => ({ ...group, file }));
  });
}

function judge({ file, description: group, schema, tests }: Group): Judged[] {
  const compiled = compile(schema);
  return tests.map(({ description: test, data, valid }): Judged => {
    if (!("check" in compiled)) return { file, group, test, verdict: "refused", problems: compiled, described: [] };
    const accepted = compiled.check(data).length === 0;
    const verdict = accepted === valid ? "as expected" : accepted ? "looser" : "stricter";
    return { file, group, test, verdict, problems: [], described: compiled.describedFormats };
  });
}

function compile(schema: JsonObject | boolean): CompiledSchema | readonly Violation[] {
  try {
    return compileSchema(schema);
  } catch (error) {
    if (!isKernelError(error) || error.code !== "INVALID_DECLARATION") throw error;
    return error.violations;
  }
}

function differenceOf(one: Judged): string {
  if (one.verdict === "stricter") return line("stricter", undefined, one.file, one.test);
  const rules = new Set(one.problems.map(({ rule }) => rule));
  return line("refused", [...rules].join(), one.file, one.group);
}

function line(verdict: string, rule: string | undefined, file: string, name: string): string {
  return `${verdict}${rule === undefined ? "" : ` (${rule})`} ${file}: ${name}`;
}

function nameOf({ file, group, test }: Judged): string {
  return `${file}: ${group}: ${test}`;
}
