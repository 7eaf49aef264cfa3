import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { GENERATED_MARK } from "@narthex/agent/generate";
import { usageError } from "../terminal/command-error.ts";

/** What is in a generated module; undefined if there is none. A file that somebody wrote is not touched. */
export async function readGenerated(path: string): Promise<string | undefined> {
  const text = await readExisting(path);
  if (text === undefined || text.startsWith(GENERATED_MARK)) return text;
  throw usageError(`\`${path}\` is there and was not generated`, "choose another name with --out");
}

/** All of it, or what was there before. */
export async function writeGenerated(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, text, { flag: "wx" });
    await rename(draft, path);
  } catch (fault) {
    await rm(draft, { force: true });
    if (!(fault instanceof Error)) throw fault;
    throw usageError(`\`${path}\` cannot be written: ${fault.message}`, "choose another name with --out");
  }
}

async function readExisting(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "ENOENT") return undefined;
    throw fault;
  }
}
