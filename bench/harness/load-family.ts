import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Family } from "./measurement.ts";

const FILE = "family.ts";

/** The names of the families in a folder. */
export function listFamilies(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => existsSync(join(directory, name, FILE)))
    .sort();
}

export async function loadFamily(directory: string): Promise<Family> {
  const { family } = (await import(pathToFileURL(join(directory, FILE)).href)) as { family: Family };
  return family;
}
