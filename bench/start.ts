import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { packNarthex } from "../scripts/build/pack-narthex.ts";
import { startServer } from "./harness/start-server.ts";
import { median } from "./harness/statistics.ts";

export interface StartTimes {
  /** `node -e 0`. */
  readonly empty: StartFigures;
  /** The installed `narthex call echo '{}'`, through a kernel that serves. */
  readonly call: StartFigures;
  /** The installed `narthex session list`, which opens the kernel itself because none serves. */
  readonly alone: StartFigures;
  /** A program that imports the installed library and ends. */
  readonly library: StartFigures;
  /** Of the medians of a call and of nothing. */
  readonly ratio: number;
}

export interface StartFigures {
  readonly medianMs: number;
  readonly bestMs: number;
  /** Every run, in order. */
  readonly runsMs: readonly number[];
}

/** Not measured: after these, everything is in the caches of Node and of the system. */
const FIRST_RUNS = 3;

/** Measures how long one call by the installed command takes, from start to end, beside a Node that does nothing. */
export async function measureStart(installDirectory: string, runs = 20): Promise<StartTimes> {
  const home = await mkdtemp(join(tmpdir(), "narthex-start-"));
  const program = join(installDirectory, "node_modules", ".bin", "narthex");
  // The command finds its Node by PATH: the very one that the empty start runs.
  const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const env = { ...process.env, HOME: home, NARTHEX_DATA: join(home, "kernel"), NARTHEX_TOKEN: "", PATH: path };
  const serve = [program, "serve", "--first-session", "--listen", "127.0.0.1:0", "--json"];
  const { stop } = await startServer(serve, env);
  const options = { cwd: installDirectory, env };
  const times = { empty: [], call: [], alone: [], library: [] } as Record<
    "empty" | "call" | "alone" | "library",
    number[]
  >;
  try {
    for (let run = 0; run < FIRST_RUNS + runs; run += 1) {
      const empty = time(process.execPath, ["-e", "0"], options);
      const call = time(program, ["call", "echo", "{}"], options);
      if (run >= FIRST_RUNS) times.empty.push(empty);
      if (run >= FIRST_RUNS) times.call.push(call);
    }
    await stop();
    for (let run = 0; run < FIRST_RUNS + runs; run += 1) {
      const alone = time(program, ["session", "list"], options);
      const library = time(process.execPath, ["--input-type=module", "-e", 'await import("narthex")'], options);
      if (run >= FIRST_RUNS) times.alone.push(alone);
      if (run >= FIRST_RUNS) times.library.push(library);
    }
  } finally {
    await stop();
    await rm(home, { recursive: true, force: true });
  }
  const [empty, call] = [summarize(times.empty), summarize(times.call)];
  const [alone, library] = [summarize(times.alone), summarize(times.library)];
  return { empty, call, alone, library, ratio: call.medianMs / empty.medianMs };
}

function time(
  program: string,
  words: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): number {
  const startedMs = performance.now();
  const { status, stderr } = spawnSync(program, words, {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
  });
  const elapsedMs = performance.now() - startedMs;
  if (status !== 0) throw new Error(`\`${program} ${words.join(" ")}\` failed: ${stderr}`);
  return elapsedMs;
}

function summarize(runsMs: readonly number[]): StartFigures {
  return { medianMs: median(runsMs), bestMs: Math.min(...runsMs), runsMs };
}

async function installPacked(folder: string): Promise<void> {
  const tarball = await packNarthex({ directory: join(folder, "tarball") });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), `{ "name": "program", "private": true }`);
  const words = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", tarball];
  await promisify(execFile)("npm", words, { cwd: folder });
}

function describe(what: string, { medianMs, bestMs }: StartFigures): string {
  return `${what.padEnd(40)} median ${medianMs.toFixed(1)} ms, best ${bestMs.toFixed(1)} ms`;
}

if (import.meta.main) {
  const folder = await mkdtemp(join(tmpdir(), "narthex-installed-"));
  try {
    await installPacked(folder);
    const { empty, call, alone, library, ratio } = await measureStart(folder);
    console.log(describe("node -e 0", empty));
    console.log(describe("narthex call echo '{}'", call));
    console.log(`${ratio.toFixed(2)} times`);
    console.log(describe("narthex session list, without a kernel", alone));
    console.log(describe('import "narthex"', library));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
