import { GIT_OPTIONS } from "./git-options.ts";

/** Whether a program that mostly reads was told to write or delete files. */
type Judge = (args: readonly string[]) => boolean;

/** Long options are matched by their starts: GNU's programs take any that is not ambiguous. */
const WRITERS: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ["find", has(/^-(?:delete|fprint|fprint0|fprintf|fls)$/)],
  ["sed", has(/^-[^-]*i|^--i/)],
  ["gsed", has(/^-[^-]*i|^--i/)],
  ["sort", has(/^-[^-]*[oT]|^--(?:o|te)/)],
  ["uniq", writesSecondOperand],
  ["base64", has(/^-[^-]*o|^--output/)],
  // `-R` writes a page into every directory.
  ["tree", has(/^-[^-]*[oR]/)],
  [
    "curl",
    has(
      /^-[^-]*[oOJTDc]|^--(?:output|remote-name|upload-file|dump-header|cookie-jar|trace|create-dirs|stderr|etag-save|hsts|alt-svc)/,
    ),
  ],
  ["wget", () => true],
  ["git", (args) => has(/^--out/)(args) || (!GIT_OPTIONS.has(args[0] ?? "") && has(/^-o/)(args))],
  ["jq", has(/^-i|^--in-place/)],
  ["yq", has(/^-[^-]*i|^--inplace/)],
  ["diff", has(/^--output/)],
  ["less", has(/^-[^-]*[oO]|^--log-file/i)],
  ["rg", has(/^--generate/)],
  ["nl", has(/^--output/)],
  ["file", has(/^-[^-]*C|^--co/)],
  ["prettier", has(/^--write|^-w/)],
  ["eslint", has(/^--fix$|^--fix-type|^-o|^--output-file/)],
  ["ruff", ruffWrites],
  ["gofmt", has(/^-w/)],
  ["xxd", has(/^-r/)],
  ["date", has(/^-[uR]*s|^--s|^\d{8,12}(?:\.\d\d)?$/)],
  ["hostname", has(/^[^-]/)],
  ["dmesg", has(/^-[^-]*[cC]|^--(?:clear|read-clear)/)],
  ["journalctl", has(/^--(?:vacuum|rotate|flush)/)],
]);

/** `name` without its directories. A program that is made for writing is not asked about: its name says it. */
export function writesFiles(name: string, args: readonly string[]): boolean {
  return WRITERS.get(name)?.(args) ?? false;
}

function has(option: RegExp): Judge {
  return (args) => args.some((arg) => option.test(arg));
}

/** `uniq INPUT OUTPUT`. What is not plainly an option or its value counts as one of the two. */
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

function ruffWrites(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  if (options[0] === "format") return !options.includes("--check") && !options.includes("--diff");
  return has(/^--(?:fix|unsafe-fixes|add-noqa|output-file)|^-o/)(options);
}
