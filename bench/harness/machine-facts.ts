import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { fileSystemOf, REPOSITORY } from "./places.ts";

/** Where and on what a run was made: numbers of two machines do not compare, their ratios nearly do. */
export interface RunFacts {
  readonly date: string;
  /** With `+` if files differ from it. */
  readonly commit: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly fileSystem: string;
  readonly node: string;
  readonly loadBefore: number;
  readonly packages: Readonly<Record<string, string>>;
}

export function readRunFacts(scratch: string, packages: readonly string[]): RunFacts {
  const cores = cpus();
  return {
    date: new Date().toISOString().slice(0, 16).concat("Z"),
    commit: readCommit(),
    cpu: cores[0]?.model.trim() ?? "unknown",
    cores: cores.length,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    system: `${process.platform} ${release()} ${process.arch}`,
    fileSystem: fileSystemOf(scratch),
    node: process.version,
    loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
    packages: Object.fromEntries(packages.map((name) => [name, readVersion(name)])),
  };
}

function readVersion(name: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(REPOSITORY, "node_modules", name, "package.json"), "utf8"));
  const isManifest = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return isManifest ? String(manifest.version) : "unknown";
}

function readCommit(): string {
  try {
    const git = (...words: string[]): string =>
      execFileSync("git", words, { cwd: REPOSITORY, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    return git("rev-parse", "HEAD") + (git("status", "--porcelain", "--untracked-files=no") === "" ? "" : "+");
  } catch {
    return "unknown: git cannot tell";
  }
}
