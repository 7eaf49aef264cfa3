import { INVISIBLE_CHARACTER } from "@narthex/contracts";
import { type PolicyFile, quoteText } from "@narthex/kernel";
import { createFilePositions } from "./file-positions.ts";
import type { PolicyProblems } from "./policy-problems.ts";

export const MAX_FILES = 1000;
export const MAX_FILE_LENGTH = 1_048_576;
const FILE_NAME = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/**
 * SECURITY: characters that make a reviewer see other text than the parser does (direction overrides, invisible marks),
 * and control characters, are rejected everywhere, comments included.
 */
const DECEPTIVE = new RegExp(`(?![\\t\\r\\n])${INVISIBLE_CHARACTER}`, "u");

/** Checks files before they are passed to Cedar. Returns the acceptable ones, sorted by name. */
export function checkPolicyFiles(files: readonly PolicyFile[], problems: PolicyProblems): PolicyFile[] {
  const sorted = files.map(({ name, text }) => ({ name, text })).sort((left, right) => compare(left.name, right.name));
  if (sorted.length > MAX_FILES) problems.add("", "max_items", `there are more than ${MAX_FILES} policy files`);
  const kept = sorted.slice(0, MAX_FILES);
  for (const [index, { name }] of kept.entries()) {
    if (!FILE_NAME.test(name)) problems.add("", "format", `${quoteText(name)} is no name for a policy file`);
    if (index > 0 && kept[index - 1]?.name === name) {
      problems.add("", "duplicate", `there are two files named ${quoteText(name)}`);
    }
  }
  return kept.filter((file) => isReadable(file, problems));
}

function isReadable(file: PolicyFile, problems: PolicyProblems): boolean {
  const places = createFilePositions(file);
  if (file.text.length > MAX_FILE_LENGTH) {
    problems.add(places.format(0), "max_length", "the file is longer than 1 MB; split it");
    return false;
  }
  const deceptive = DECEPTIVE.exec(file.text);
  if (deceptive === null) return true;
  problems.add(places.format(deceptive.index), "format", deceptiveProblem(deceptive[0], deceptive.index));
  return false;
}

function deceptiveProblem(character: string, offset: number): string {
  if (character === "\ufeff" && offset === 0) {
    return "the file starts with a byte order mark; save it as UTF-8 without one";
  }
  const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0").toUpperCase();
  return `the character U+${code} is not allowed; write it as \\u{...} in a string`;
}

/** Compares by code unit: the same order on every machine. */
function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
