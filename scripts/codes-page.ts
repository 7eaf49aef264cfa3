import { readFileSync, writeFileSync } from "node:fs";
import { ERROR_CODES, HOST_CODES, RATIONALE_CODES, REGISTRATION_CODES } from "@narthex/contracts";
import type { CodeFacts } from "@narthex/contracts";

/**
 * Writes docs/formats/codes.md from the tables that the code uses. `--check` writes nothing and fails if the page is
 * out of date.
 */
const PAGE = new URL("../docs/formats/codes.md", import.meta.url);

const INTRODUCTION = `# Codes

Every failure has a code from a closed list, what it means, and what to do next. *Retryable* means that the same request
may succeed later, and that repeating it runs nothing twice that had an effect: an answer with \`effects_possible\` is never
retryable, whatever the table says of its code. This page is written from the tables in
\`packages/contracts/src/codes\` by \`scripts/codes-page.ts\`.
`;

const SECTIONS: readonly { readonly title: string; readonly text: string; readonly codes: Codes }[] = [
  { title: "Errors", text: "`ToolError.error_code`: something went wrong.", codes: ERROR_CODES },
  {
    title: "Denials",
    text: "`ToolDenied.rationale_code`: authority said no. A policy rule may give a code of its own; `rule_id` is the rule's id, or `kernel:` and the stage that refused.",
    codes: RATIONALE_CODES,
  },
  { title: "Registration", text: "Why a tool was not taken into the registry.", codes: REGISTRATION_CODES },
  {
    title: "Machine and administration",
    text: "What can be wrong with the home, its configuration, or an administrator's request.",
    codes: HOST_CODES,
  },
];

type Codes = ReadonlyMap<string, CodeFacts>;

const page = writePage();
if (!process.argv.includes("--check")) {
  writeFileSync(PAGE, page);
} else if (readPage() !== page) {
  console.error("docs/formats/codes.md is not what the code tables say: run `node scripts/codes-page.ts`");
  process.exitCode = 1;
}

function writePage(): string {
  const sections = SECTIONS.map(({ title, text, codes }) => `## ${title}\n\n${text}\n\n${tableOf(codes)}`);
  return [INTRODUCTION, ...sections].join("\n");
}

function tableOf(codes: Codes): string {
  const rows = [...codes].map(
    ([code, { retryable, meaning, next }]) =>
      `| ${code} | ${retryable ? "yes" : "no"} | ${cell(meaning)} | ${cell(next)} |`,
  );
  return ["| code | retryable | meaning | what to do |", "|---|---|---|---|", ...rows, ""].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function readPage(): string {
  try {
    return readFileSync(PAGE, "utf8");
  } catch {
    return "";
  }
}
