import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { toHex } from "@narthex/contracts";
import { type GoldenLog, goldenRow } from "../packages/verify/src/testing/vectors/golden-log.ts";

/**
 * Freezes the Merkle tree of a home: `node scripts/freeze-merkle-tree.ts HOME KEPT_CHECKPOINT
 * vectors/log/FORMAT/NAME.json`, then
 * `node scripts/vectors.ts` for its report. Run once for every format, while the kernel of that format is the current one.
 */
const [home = "", kept = "", output = ""] = process.argv.slice(2);

const database = new DatabaseSync(join(home, "store", "records.db"), { readOnly: true });
const rows = database
  .prepare('SELECT idx AS "index", chain, sequence, hash, record, content FROM records ORDER BY idx')
  .all() as unknown as Parameters<typeof goldenRow>[0][];
const log: GoldenLog = {
  rows: rows.map(goldenRow),
  files: Object.fromEntries(
    filesBelow("content").map((path) => [path.split("/").at(-1) ?? "", hexOf("content", path)]),
  ),
  checkpoint: readFileSync(join(home, "log", "checkpoint"), "utf8"),
  tiles: Object.fromEntries(filesBelow("log/tile").map((path) => [placeOf(path), hexOf("log/tile", path)])),
  trusted_key: firstKey(),
  kept_checkpoint: readFileSync(kept, "utf8"),
};
database.close();
writeFileSync(output, `${JSON.stringify(log, undefined, 2)}\n`);

function filesBelow(folder: string): string[] {
  const entries = readdirSync(join(home, folder), { recursive: true, withFileTypes: true });
  const root = join(home, folder);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

function hexOf(folder: string, path: string): string {
  return toHex(readFileSync(join(home, folder, path)));
}

/** `0/x001/234.p/7` contains hashes 0 to 6 of tile 1234. */
function placeOf(path: string): string {
  const [, level = "", groups = "", , width = "256"] = /^(\d+)\/((?:x?\d{3}\/?)+)(\.p\/(\d+))?$/.exec(path) ?? [];
  return `${level}/${Number(groups.replace(/[x/]/g, ""))}/${width}`;
}

function firstKey(): string {
  return readFileSync(join(home, "log", "keys", "000"), "utf8").split("\n")[2] ?? "";
}
