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

/** The rules of a directory, in the order of their names. Throws POLICY_INVALID if any of them cannot be read. */
export function readPolicyDirectory(directory: string): Promise<PolicyFile[]> {
  return readTexts(directory, POLICY_SUFFIX);
}

/** The examples beside them. */
export function readExampleFiles(directory: string): Promise<PolicyFile[]> {
  return readTexts(directory, EXAMPLES_SUFFIX);
}

/** Whatever the rest of a name is: a rule that is silently left out would be no rule. */
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
    // A pipe in the file's place would otherwise wait for a writer.
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
    // The mark at the beginning stays, so that who checks the text can say that it is there.
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
