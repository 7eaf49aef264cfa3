import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { findRipgrep } from "@narthex/host";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { medianTime, ratioOf } from "../../harness/statistics.ts";
import { openWorkbench, WORKSPACE_OWNER } from "./open-workbench.ts";

const FILES = 50_000;
const FILES_PER_FOLDER = 100;
const COUNT = 3;
const run = promisify(execFile);

/** A search through 50,000 files, beside ripgrep itself with the same words. */
export const search: Measurement = async ({ rounds, scale, directory, cache }) => {
  const files = Math.max(1000, Math.round(FILES * scale));
  const tree = await makeTree(cache, files);
  const bench = await openWorkbench(directory);
  const session = await bench.kernel.session({ workspace: tree });
  const ripgrep = await findRipgrep();
  const words = ["--no-config", "--json", "-e", "needle", "--", tree];
  const results = await interleave(rounds, {
    ours: () => medianTime(COUNT, () => bench.call("file_search", { pattern: "needle", max_matches: 10_000 }, session)),
    bare: () => medianTime(COUNT, async () => void (await run(ripgrep, words, { maxBuffer: 1024 * 1024 * 1024 }))),
  });
  await bench.close();
  return {
    rows: [
      {
        what: `p50 of an uncut \`file_search\` through ${files.toLocaleString("en-US")} files`,
        ours: { value: Math.min(...results.ours), unit: "ms" },
        beside: { value: Math.min(...results.bare), unit: "ms", name: "rg --json" },
        ratio: ratioOf(results.ours, results.bare),
        bar: { of: "ratio", limit: "at most", value: 1.3 },
        picture: "file_search, beside bare ripgrep",
      },
    ],
    raw: { "ours, p50 ms": results.ours, "rg --json, p50 ms": results.bare },
  };
};

/** Made once: one file in fifty holds the needle. */
async function makeTree(cache: string, files: number): Promise<string> {
  const tree = join(cache, `search-tree-${files}`);
  if (existsSync(tree)) return tree;
  const draft = `${tree}.draft-${process.pid}`;
  const line = "const value = compute(input, options); // what it is for\n";
  for (let n = 0; n < files; n++) {
    const folder = join(draft, `folder-${Math.floor(n / FILES_PER_FOLDER)}`);
    if (n % FILES_PER_FOLDER === 0) await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `file-${n}.ts`), `${line.repeat(20 + (n % 40))}${n % 50 === 0 ? "needle\n" : ""}`);
  }
  if (process.getuid?.() === 0) await chown(draft, WORKSPACE_OWNER, WORKSPACE_OWNER);
  await rename(draft, tree);
  return tree;
}
