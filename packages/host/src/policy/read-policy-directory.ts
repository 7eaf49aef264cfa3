import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { PolicyFile } from "@narthex/kernel";
import { quote } from "../configuration/configuration-problems.ts";
import { MAX_FILE_LENGTH, MAX_FILES } from "./check-policy-files.ts";
import { createPolicyProblems, type PolicyProblems } from "./policy-problems.ts";

const POLICY_SUFFIX = ".cedar";
const EXAMPLES_SUFFIX = ".examples.yaml";
const MAX_PATH = 300;

/** Reads the rules of a directory, in order of file name. Throws POLICY_INVALID if any file cannot be read. */
export function readPolicyDirectory(directory: string): Promise<PolicyFile[]> {
  return readTexts(directory, POLICY_SUFFIX);
}

/** Reads the example files of the same directory. */
export function readExampleFiles(directory: string): Promise<PolicyFile[]> {
  return readTexts(directory, EXAMPLES_SUFFIX);
}

/** Reads all files with the suffix, whatever the rest of the name is: a rule must never be left out silently. */
async function readTexts(directory: string, suffix: string): Promise<PolicyFile[]> {
  const problems = createPolicyProblems();
  const files: PolicyFile[] = [];
  const names = await readdir(directory).catch((fault: unknown) => {
    problems.add("", "malformed", `${quote(directory, MAX_PATH)} cannot be read (${codeOf(fault)})`);
    return [];
  });
  const chosen = names.filter((name) => name.endsWith(suffix)).sort();
  if (chosen.length > MAX_FILES) problems.add("", "max_items", `there are more than ${MAX_FILES} files`);
  for (const name of chosen.slice(0, MAX_FILES)) {
    const text = await readText(directory, name, problems);
    if (text !== undefined) files.push({ name, text });
  }
  problems.throwIfAny();
  return files;
}

async function readText(directory: string, name: string, problems: PolicyProblems): Promise<string | undefined> {
  try {
    // O_NONBLOCK: a pipe in place of the file would otherwise wait for a writer.
    await using file = await open(join(directory, name), constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await file.stat();
    if (!stat.isFile()) {
      problems.add(quote(name), "malformed", "is not a file");
      return undefined;
    }
    if (stat.size > MAX_FILE_LENGTH) {
      problems.add(quote(name), "max_length", "the file is longer than 1 MB; split it");
      return undefined;
    }
    // Keep the byte order mark, so that validation of the text can report it.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.readFile());
  } catch (fault) {
    const why = fault instanceof TypeError ? "is not UTF-8 text" : `cannot be read (${codeOf(fault)})`;
    problems.add(quote(name), "malformed", why);
    return undefined;
  }
}

function codeOf(fault: unknown): string {
  return fault instanceof Error && "code" in fault ? String(fault.code) : "unknown error";
}
