import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { compareWorlds } from "./compare-worlds.ts";
import { createMeteredEngine, createPlainEngine } from "./engines.ts";
import type { ScriptCommand } from "./script-command.ts";
import type { ScriptReport } from "./script-report.ts";
import { World } from "./world.ts";

/** The job of a worker: one converted script in its own directory. */
export interface ScriptJob {
  readonly directory: string;
  readonly commands: readonly ScriptCommand[];
  readonly spectest: Uint8Array;
}

const { directory, commands, spectest } = workerData as ScriptJob;
const worlds = {
  plain: new World(createPlainEngine(), spectest),
  metered: new World(createMeteredEngine(), spectest),
};
const report: ScriptReport = { passed: 0, alike: [], rejected: new Map(), skipped: new Map(), different: [] };
for (const command of commands) {
  const verdict = compareWorlds(worlds, command, (filename) => new Uint8Array(readFileSync(join(directory, filename))));
  switch (verdict.kind) {
    case "passed":
      report.passed++;
      break;
    case "alike":
    case "different":
      report[verdict.kind].push(`line ${command.line}, ${command.type}: ${verdict.note}`);
      break;
    case "rejected":
    case "skipped":
      report[verdict.kind].set(verdict.reason, (report[verdict.kind].get(verdict.reason) ?? 0) + 1);
  }
}
parentPort?.postMessage(report);
