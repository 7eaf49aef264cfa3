import { resolve } from "node:path";
import { blake3, fromBinary, fromHex, HASH_SIZE, ProofSchema, toHex } from "@narthex/contracts";
import { recheckStored } from "@narthex/host";
import type { Recheck, StoredDecision } from "@narthex/kernel";
import { withConnection } from "../connection/open-connection.ts";
import { EXIT_DIVERGED, EXIT_OK } from "../terminal/exit-code.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { visible } from "../terminal/visible.ts";
import type { Command, Invocation } from "./command.ts";
import { readDecisions, writeDecisions } from "./decision-file.ts";
import { readProofDecision, readCallDecisions } from "./stored-decisions.ts";

export const policyRecheckCommand: Command = {
  details:
    "Takes the proof, what policy was asked, the input, the rules and the schema as they were stored, evaluates the rules " +
    "with Cedar's own engine, and compares the proofs byte for byte. --out writes all of it, the call's input included, " +
    "into one file that can be checked on any machine. Exit code 10 means that another answer comes out.",
  arguments: [
    { name: "<what>", description: "SESSION/REQUEST for a call, the hash of a proof, or a file that --out wrote" },
  ],
  options: [{ flags: "--out <file>", description: "also write everything that the check needs into this file" }],
  examples: [
    "narthex policy recheck ses_abcdefghij234567abcd/req-1",
    "narthex policy recheck ses_abcdefghij234567abcd/req-1 --out decision.json",
    "narthex policy recheck ./decision.json",
  ],

  async run(invocation) {
    const { options, terminal } = invocation;
    const decisions = await findDecisions(invocation.arguments[0] ?? "", invocation);
    const out = options.text("out");
    if (out !== undefined) await writeDecisions(resolve(out), decisions);
    const checks: Checked[] = [];
    for (const decision of decisions) checks.push({ decision, recheck: await recheckStored(decision) });
    if (terminal.json)
      terminal.printJson({ decisions: checks.map(toJson), ...(out === undefined ? {} : { file: out }) });
    else for (const checked of checks) print(checked, terminal);
    return checks.every(({ recheck }) => recheck.same) ? EXIT_OK : EXIT_DIVERGED;
  },
};

interface Checked {
  readonly decision: StoredDecision;
  readonly recheck: Recheck;
}

const CALL = /^(ses_[a-z2-7]+)\/(.+)$/s;

function findDecisions(what: string, invocation: Invocation): Promise<StoredDecision[]> {
  const [, sessionId, requestId] = CALL.exec(what) ?? [];
  if (sessionId !== undefined && requestId !== undefined) {
    return withConnection(invocation, "policy recheck", (kernel) => readCallDecisions(kernel, sessionId, requestId));
  }
  const hash = fromHex(what);
  if (hash?.length === HASH_SIZE) {
    return withConnection(invocation, "policy recheck", (kernel) => readProofDecision(kernel, hash));
  }
  return readDecisions(resolve(what));
}

function print({ decision, recheck }: Checked, terminal: Terminal): void {
  const { paint } = terminal;
  const { allowed, ruleIds } = fromBinary(ProofSchema, decision.proof);
  const answer = `${allowed ? "allowed" : "denied"} by ${ruleIds.join(", ") || "no rule"}`;
  const verdict = recheck.same ? paint.green("the same") : paint.red("another answer");
  terminal.print(`${verdict}  ${visible(`${toHex(blake3(decision.proof))}  ${answer}`)}`);
  const again =
    recheck.checkedBy === ""
      ? "not made again: its parts do not belong together"
      : `made again by ${recheck.checkedBy}`;
  terminal.print(visible(`  decided by ${recheck.engine}, ${again}`));
  for (const difference of recheck.differences) terminal.print(visible(`  ${difference}`));
}

function toJson({ decision, recheck }: Checked) {
  const { allowed, ruleIds } = fromBinary(ProofSchema, decision.proof);
  const { same, differences, engine, checkedBy } = recheck;
  const proofHash = toHex(blake3(decision.proof));
  return {
    proof_hash: proofHash,
    same,
    allowed,
    rule_ids: ruleIds,
    engine,
    checked_by: checkedBy,
    differences: [...differences],
  };
}
