import { spawnSync } from "node:child_process";

export interface AddedLine {
  readonly file: string;
  readonly number: number;
  readonly text: string;
}

const MAX_DIFF_BYTES = 512 * 1024 * 1024;

/** Lines of the working tree that `base` does not have; undefined if there is no history to compare with. */
export function listAddedLines(root: string, base: string): AddedLine[] | undefined {
  const options = ["--unified=0", "--no-color", "--no-ext-diff", "--no-prefix", "--diff-filter=d"];
  const { status, stdout } = spawnSync("git", ["-c", "core.quotePath=false", "diff", ...options, base, "--"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: MAX_DIFF_BYTES,
  });
  return status === 0 ? parseDiff(stdout) : undefined;
}

function parseDiff(diff: string): AddedLine[] {
  const added: AddedLine[] = [];
  let file = "";
  let number = 0;
  let left = 0;
  for (const line of diff.split("\n")) {
    if (left > 0 && line.startsWith("+")) {
      added.push({ file, number: number++, text: line.slice(1) });
      left--;
      continue;
    }
    if (line.startsWith("+++ ")) file = line.slice("+++ ".length).replace(/\t$/, "");
    const [, start, count = "1"] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (start !== undefined) [number, left] = [Number(start), Number(count)];
  }
  return added;
}
