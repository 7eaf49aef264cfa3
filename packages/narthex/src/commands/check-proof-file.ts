import { open } from "node:fs/promises";
import { fromHex, HASH_SIZE, toHex } from "@narthex/contracts";
import { checkProofText, parseVerifierKey, ProofFault, type ProofTrust, type ProvenFact } from "@narthex/verify";
import { CommandError, usageError } from "../terminal/command-error.ts";
import { EXIT_LEDGER_BROKEN, EXIT_OK, EXIT_UNREADABLE } from "../terminal/exit-code.ts";
import { renderFacts } from "../terminal/table.ts";
import { formatCount, formatTime } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";
import type { Invocation } from "./command.ts";
import { readCheckpointFile } from "./checkpoint-argument.ts";

const MAX_PROOF_BYTES = 32 * 1024 * 1024;

/** Checks a proof on its own, without a home or a kernel. */
export async function checkProofFile(file: string, { options, terminal }: Invocation): Promise<number> {
  const trust: ProofTrust = {
    key: parseKey(options.text("key")),
    announcements: await Promise.all(options.texts("announcement").map(readCheckpointFile)),
    recordHash: parseHash(options.text("record-hash")),
  };
  const text = await readProof(file);
  try {
    const fact = checkProofText(text, trust);
    if (terminal.json) terminal.printJson({ holds: true, ...factToJson(fact) });
    else terminal.print(terminal.paint.green("the proof holds"), ...renderFacts(renderFact(fact)));
    return EXIT_OK;
  } catch (fault) {
    if (!(fault instanceof ProofFault)) throw fault;
    if (terminal.json) terminal.printJson({ holds: false, reason: fault.message });
    else terminal.print(terminal.paint.red(visible(`the proof does not hold: ${fault.message}`)));
    return fault.isUnreadable ? EXIT_UNREADABLE : EXIT_LEDGER_BROKEN;
  }
}

function parseKey(text: string | undefined): ProofTrust["key"] {
  if (text === undefined) throw usageError("a proof is worth what its key is: name the one that you trust by --key");
  const key = parseVerifierKey(text);
  if (key === undefined) throw new CommandError("INVALID_INPUT", `\`${text.slice(0, 120)}\` is no verifier key`);
  return key;
}

function parseHash(text: string | undefined): Uint8Array | undefined {
  if (text === undefined) return undefined;
  const hash = fromHex(text);
  if (hash?.length !== HASH_SIZE) throw usageError(`\`${text.slice(0, 80)}\` is no hash of a record`);
  return hash;
}

async function readProof(path: string): Promise<string> {
  const file = await open(path, "r").catch((cause: unknown) => {
    throw new CommandError("INVALID_INPUT", `\`${path.slice(0, 200)}\` cannot be read`, { cause });
  });
  try {
    const { size } = await file.stat();
    if (size > MAX_PROOF_BYTES) throw new CommandError("INVALID_INPUT", `\`${path.slice(0, 200)}\` is too large`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function factToJson(fact: ProvenFact) {
  const { kind, origin, treeSize } = fact;
  if (fact.kind === "extension") return { kind, origin, from_size: fact.fromSize, tree_size: treeSize };
  const { record } = fact;
  const facts = { kind, origin, tree_size: treeSize, index: fact.index, record_hash: toHex(fact.recordHash) };
  if (record === undefined) return facts;
  return { ...facts, chain: record.chain, request_id: record.requestId, wall_time_ms: record.wallTimeMs };
}

function renderFact(fact: ProvenFact): [string, string][] {
  const log: [string, string] = ["log", visible(fact.origin)];
  if (fact.kind === "extension") {
    const what = `the first ${formatCount(fact.fromSize)} of ${formatCount(fact.treeSize)} records are unchanged`;
    return [log, ["shows", what]];
  }
  const { record } = fact;
  return [
    log,
    ["record", `${fact.index} of ${formatCount(fact.treeSize)}`],
    ["hash", toHex(fact.recordHash)],
    ...(record === undefined ? [] : recordLines(record)),
  ];
}

function recordLines(record: { readonly chain: string; readonly requestId: string; readonly wallTimeMs: number }) {
  return [
    ["chain", visible(record.chain)],
    ["request", visible(record.requestId) || "none"],
    ["recorded", formatTime(record.wallTimeMs)],
  ] satisfies [string, string][];
}
