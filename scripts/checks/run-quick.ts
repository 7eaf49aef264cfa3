import { findBase, listChangedFiles } from "./changed-files.ts";
import { findRelatedTests } from "./related-tests.ts";
import { print, runSteps } from "./run-steps.ts";
import { REPOSITORY } from "./run-tool.ts";
import { STEPS, type Step } from "./steps.ts";

/** `npm run test:quick [-- REVISION]`: types, lint, and the unit tests of the files that changed since a revision. */
const BUDGET_MS = 90_000;
const CHECKS = ["types-and-lint", "imports", "format", "wording"];
/** Above this number of files the unit tests exceed the budget: `npm test` runs them all. */
const MAX_TEST_FILES = 60;

const base = process.argv[2] ?? findBase(REPOSITORY);
const related = findRelatedTests(REPOSITORY, listChangedFiles(REPOSITORY, base));
const tests = related.slice(0, MAX_TEST_FILES);
const steps: Step[] = STEPS.filter(({ name }) => CHECKS.includes(name));
if (tests.length > 0)
  steps.push({ name: "related-tests", tests: { globPatterns: tests, together: [{ folder: "packages" }] } });
const left = related.length - tests.length;
print(
  `changes since ${base}: ${tests.length} related test files${left > 0 ? `; ${left} more run in \`npm test\`` : ""}`,
);
process.exitCode = await runSteps(steps, BUDGET_MS);
