import { readdirSync, readFileSync } from "node:fs";
import { toHex } from "@narthex/contracts";
import { sampleLedger } from "../sample-ledger.ts";
import { SignedTree, testKey, tilesOf } from "../signed-tree.ts";
import { type GoldenLog, goldenReport, goldenRow } from "./golden-log.ts";

const LOGS = new URL("../../../../../vectors/log/", import.meta.url);
const MADE = "1/made.json";
const REPORT = "-report.json";

/**
 * Ledgers of every format version, each with its report. One is generated here, step by step; the others were written
 * by kernels of their time, cannot be regenerated, and stay unchanged.
 */
export async function logVectors(): Promise<ReadonlyMap<string, unknown>> {
  const vectors = new Map<string, unknown>();
  const frozen = readdirSync(LOGS, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".json") && !name.endsWith(REPORT) && name !== MADE,
  );
  const logs: (readonly [string, GoldenLog])[] = [[MADE, madeLog()]];
  for (const name of frozen.sort()) {
    logs.push([name, JSON.parse(readFileSync(new URL(name, LOGS), "utf8")) as GoldenLog]);
  }
  for (const [name, log] of logs) {
    vectors.set(`log/${name}`, log);
    vectors.set(`log/${name.replace(/\.json$/, REPORT)}`, await goldenReport(log));
  }
  return vectors;
}

/** Calls, a checkpoint, a handover to another key, and a second checkpoint. */
function madeLog(): GoldenLog {
  const ledger = sampleLedger("golden");
  const log = new SignedTree(ledger);
  const first = testKey("golden first");
  log.announce(first);
  const kept = log.checkpoint();
  log.announce(testKey("golden second"));
  const checkpoint = log.checkpoint();
  const size = Number(checkpoint.split("\n")[1]);
  return {
    rows: ledger.rows.map(goldenRow),
    files: Object.fromEntries([...ledger.files].map(([digest, bytes]) => [digest, toHex(bytes)])),
    checkpoint,
    tiles: Object.fromEntries([...tilesOf(ledger, size)].map(([place, bytes]) => [place, toHex(bytes)])),
    trusted_key: first.text,
    kept_checkpoint: kept,
  };
}
