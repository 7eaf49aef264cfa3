import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { KernelError, parseJson } from "@narthex/contracts";
import { reachableProgram } from "../bootstrap/reachable-program.ts";
import type { Containment } from "../sandbox/open-containment.ts";
import { readAll } from "../sandbox/read-all.ts";
import { DEFAULT_LIMITS, type SandboxPlan, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import { WORKER_NODE } from "../sandbox/worker-plan.ts";
import { nameFromBytes, nameToBytes, shownPath } from "./file-name.ts";
import { RESTORE_SCRIPT } from "./restore-script.ts";

export interface RestoreRequest {
  readonly workspace: string;
  /** Paths to move aside, relative to the workspace's root. */
  readonly paths: readonly string[];
  /** Entries to restore in place of some of them. */
  readonly restored: readonly RestoredPath[];
}

export type RestoredPath =
  /** `target` holds the bytes of the link's target as Latin-1. */
  | { readonly path: string; readonly target: string }
  | { readonly path: string; readonly content: Buffer; readonly mode: number };

/**
 * Returns where the files are kept, relative to the workspace's root: usually one directory. Throws if a path could not
 * be handled.
 */
export type RestoreProtected = (request: RestoreRequest) => Promise<readonly string[]>;

/**
 * Directories for planted files: at the root, and for the second pattern also elsewhere. SECURITY: protected
 * themselves, so that no program can add files that the reviewing person would run, such as a repository around them.
 */
export const TAKEN_PATHS: readonly string[] = [".narthex-taken", ".narthex-taken-*"];

const MAX_MS = 300_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Maximum number of paths per request, so that its size is limited. */
const MAX_PATHS = 20_000;
/** A host that is short of processes or files may have recovered a moment later. */
const RETRY_MS = [100, 500];

/**
 * Creates a function that moves aside what a program added among the protected paths and restores what was there.
 *
 * SECURITY: it runs in a sandbox with nothing but the workspace, so that a planted link leads nowhere.
 */
export function createRestoreProtected(containment: () => Promise<Containment>): RestoreProtected {
  return async ({ workspace, paths, restored }) => {
    const stamp = `${new Date().toISOString().replaceAll(":", "")}-${randomBytes(8).toString("hex")}`;
    const places = new Set<string>();
    for (let at = 0; at === 0 || at < paths.length; at += MAX_PATHS) {
      const request = {
        stamp: at === 0 ? stamp : `${stamp}-${at / MAX_PATHS}`,
        aside: paths.slice(at, at + MAX_PATHS).map(toLatin1),
        restored: at + MAX_PATHS >= paths.length ? restored.map(encodeRestored) : [],
      };
      for (const place of await runWithRetries(await containment(), workspace, JSON.stringify(request))) {
        places.add(place);
      }
    }
    return [...places];
  };
}

async function runWithRetries(containment: Containment, workspace: string, request: string): Promise<string[]> {
  for (const waitMs of RETRY_MS) {
    const report = await run(containment, workspace, request).catch(() => undefined);
    if (report !== undefined) return judge(report);
    await pause(waitMs);
  }
  return judge(await run(containment, workspace, request));
}

interface Report {
  readonly places: readonly string[];
  readonly left: ReadonlyArray<readonly [path: string, why: string]>;
}

function judge({ places, left }: Report): string[] {
  if (left.length === 0) return places.map((place) => shownPath(fromLatin1(place)));
  const named = left.slice(0, 5).map(([path, why]) => `\`${shownPath(fromLatin1(path))}\` (${why})`);
  const more = left.length > named.length ? ` and ${left.length - named.length} more` : "";
  throw new KernelError("SANDBOX_ERROR", `${named.join(", ")}${more} could not be set aside or put back`);
}

async function run(containment: Containment, workspace: string, request: string): Promise<Report> {
  const { identity, directory } = await containment.identityFor(workspace);
  const node = await reachableProgram(await realpath(process.execPath), identity);
  const plan: SandboxPlan = {
    ...PLAN,
    mounts: [
      { source: node, target: WORKER_NODE, access: "read" },
      { source: workspace, target: WORKSPACE_PATH, access: "write", guard: directory },
    ],
    identity,
  };
  const program = await containment.start(plan, [WORKER_NODE, "-e", RESTORE_SCRIPT]);
  const timer = setTimeout(program.kill, MAX_MS);
  try {
    program.stdin.end(request);
    program.stderr.resume();
    const [output, { exitCode }] = await Promise.all([readAll(program.stdout, MAX_OUTPUT_BYTES), program.ended]);
    if (exitCode !== 0) throw new KernelError("SANDBOX_ERROR", "what a program made could not be set aside");
    return parseReport(output);
  } finally {
    clearTimeout(timer);
  }
}

/** Our own program wrote it, so only its shape is checked. */
function parseReport(output: Buffer): Report {
  const report = parseJson(output) as unknown as Partial<Report>;
  if (!Array.isArray(report.places) || !Array.isArray(report.left)) {
    throw new KernelError("SANDBOX_ERROR", "what set paths aside gave no report");
  }
  return { places: report.places, left: report.left };
}

function encodeRestored(item: RestoredPath): object {
  const path = toLatin1(item.path);
  return "target" in item
    ? { path, target: item.target }
    : { path, content: item.content.toString("base64"), mode: item.mode };
}

function toLatin1(path: string): string {
  return nameToBytes(path).toString("latin1");
}

function fromLatin1(path: string): string {
  return nameFromBytes(Buffer.from(path, "latin1"));
}

const MB = 1024 * 1024;

const PLAN: Omit<SandboxPlan, "mounts" | "identity"> = {
  symlinks: [],
  environment: { NODE_NO_WARNINGS: "1" },
  workingDirectory: "/",
  limits: { ...DEFAULT_LIMITS, cpuMs: MAX_MS, memoryBytes: 2048 * MB, processes: 64 },
  temporaryBytes: MB,
  socketFamilies: [],
  mayFork: false,
};
