import { discardsWork } from "../git/discards-work.ts";
import { GIT_OPTIONS } from "./git-options.ts";
import { type ArgumentsTest, hasOption } from "./option-match.ts";

/** Tests per program for whether these arguments make a program that usually reads write or delete files. */
const WRITERS: ReadonlyMap<string, ArgumentsTest> = new Map<string, ArgumentsTest>([
  ["find", hasOption({ pattern: /^-(?:delete|fprint|fprint0|fprintf|fls)$/ })],
  ["sed", hasOption({ letters: "i", long: "in-place" })],
  ["gsed", hasOption({ letters: "i", long: "in-place" })],
  ["sort", hasOption({ letters: "oT", long: "output temporary-directory" })],
  ["uniq", writesSecondOperand],
  ["base64", hasOption({ letters: "o", long: "output" })],
  // `-R` writes a page into every directory.
  ["tree", hasOption({ letters: "oR", long: "output" })],
  [
    "curl",
    hasOption({
      letters: "oOJTDc",
      long: `output remote-name upload-file dump-header cookie-jar trace create-dirs stderr etag-save hsts alt-svc
        libcurl`,
    }),
  ],
  ["wget", () => true],
  ["git", writesFromGit],
  ["jq", hasOption({ pattern: /^-i/, long: "in-place" })],
  ["yq", hasOption({ letters: "i", long: "inplace in-place split-exp" })],
  ["diff", hasOption({ long: "output" })],
  ["less", hasOption({ letters: "oO", long: "log-file LOG-FILE" })],
  ["rg", hasOption({ long: "generate" })],
  ["nl", hasOption({ long: "output" })],
  ["file", hasOption({ letters: "C", long: "compile" })],
  ["prettier", hasOption({ letters: "w", long: "write" })],
  ["eslint", hasOption({ pattern: /^--fix$/, letters: "o", long: "fix-type output-file cache-location cache-file" })],
  ["ruff", ruffWrites],
  ["biome", hasOption({ long: "write fix unsafe apply apply-unsafe" })],
  ["cargo", cargoWrites],
  ["gofmt", hasOption({ pattern: /^--?w/ })],
  ["xxd", xxdWrites],
  ["date", hasOption({ pattern: /^-[uR]*s|^\d{8,12}(?:\.\d\d)?$/, long: "set" })],
  ["hostname", hasOption({ pattern: /^[^-]/ })],
  ["dmesg", hasOption({ letters: "cC", long: "clear read-clear" })],
  ["journalctl", hasOption({ long: "vacuum rotate flush setup-keys update-catalog cursor-file" })],
]);

/** `name` is without its directories. Programs made for writing are not listed: their name says it. */
export function writesFiles(name: string, args: readonly string[]): boolean {
  return WRITERS.get(name)?.(args) ?? false;
}

/**
 * Matches arguments that replace or delete uncommitted or unmerged work, or that name a file to write. `-o` names one,
 * except where the subcommand has its own table of options, in which it means something else.
 */
function writesFromGit(args: readonly string[]): boolean {
  const at = args.findIndex((arg) => !arg.startsWith("-"));
  const command = args[at] ?? "";
  if (discardsWork(command, args.slice(at + 1))) return true;
  const letters = GIT_OPTIONS.has(command) ? {} : { pattern: /^-o/ };
  return hasOption({ ...letters, long: "output" })(args);
}

/** `xxd -r`, and `xxd INPUT OUTPUT`. Values of options count as operands. */
function xxdWrites(args: readonly string[]): boolean {
  return args.some((arg) => /^--?r/.test(arg)) || args.filter((arg) => !arg.startsWith("-")).length > 1;
}

/** `uniq INPUT OUTPUT`. Any argument that is not clearly an option or its value counts as one of the two. */
function writesSecondOperand(args: readonly string[]): boolean {
  let operands = 0;
  let ended = false;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (!ended && arg === "--") ended = true;
    else if (!ended && /^-[cdDuiz]*[fsw]$/.test(arg)) at++;
    else if (ended || arg === "-" || !arg.startsWith("-")) operands++;
  }
  return operands > 1;
}

/** `cargo fmt` writes unless it has `--check`. */
function cargoWrites(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args[0] === "fmt" && !(end === -1 ? args : args.slice(0, end)).includes("--check");
}

function ruffWrites(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  if (options[0] === "format") return !options.includes("--check") && !options.includes("--diff");
  return hasOption({ pattern: /^-o/, long: "fix unsafe-fixes add-noqa output-file" })(options);
}
