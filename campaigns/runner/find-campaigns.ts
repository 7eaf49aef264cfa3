import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Campaign } from "../campaign.ts";

/** Not a campaign: what one is. */
const DEFINITION = "campaign.ts";

/** The campaigns of a folder, by name: each of its files is one. What they are made of lies in folders below. */
export async function findCampaigns(folder: string): Promise<Campaign[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && entry.name !== DEFINITION)
    .map((entry) => entry.name)
    .sort();
  return Promise.all(files.map((file) => loadCampaign(join(folder, file))));
}

async function loadCampaign(path: string): Promise<Campaign> {
  const module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  const name = basename(path, ".ts");
  const found = Object.values(module).find((value): value is Campaign => isCampaign(value) && value.name === name);
  if (found === undefined) throw new Error(`${basename(path)} exports no campaign called \`${name}\``);
  return found;
}

function isCampaign(value: unknown): value is Campaign {
  return typeof value === "object" && value !== null && "name" in value && "run" in value && "full" in value;
}
