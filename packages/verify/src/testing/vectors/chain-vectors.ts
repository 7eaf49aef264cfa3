import { toHex } from "@narthex/contracts";
import { decodeRecord } from "../../ledger-messages.ts";
import type { LedgerRow } from "../../ledger-source.ts";
import { verifyLedger } from "../../verify-ledger.ts";
import type { VerifyReport } from "../../verify-report.ts";
import { Malformed } from "../../wire/decode-canonical.ts";
import type { LedgerBuilder } from "../ledger-builder.ts";
import { FILE_MODULUS, sampleLedger } from "../sample-ledger.ts";
import { applyEdit, type LedgerEdit } from "./apply-edit.ts";

const EDITS: readonly LedgerEdit[] = [
  { edit: "flip", index: 4, part: "record", bit: 300 },
  { edit: "flip", index: 6, part: "hash", bit: 0 },
  { edit: "flip", index: 4, part: "content", bit: 2000 },
  { edit: "drop", index: 9 },
  { edit: "duplicate", index: 5 },
  { edit: "swap", index: 3, with: 8 },
  { edit: "drop_file" },
];

/** A small ledger with its verification report, and the reports after various manipulations. */
export async function chainVectors(): Promise<ReadonlyMap<string, unknown>> {
  const ledger = sampleLedger();
  const broken = await Promise.all(
    EDITS.map(async (edit) => {
      const { problems } = await verifyLedger(applyEdit(sampleLedger(), edit));
      const [first] = problems;
      return {
        ...edit,
        first_problem: first === undefined ? null : { record_index: first.recordIndex, code: first.code },
      };
    }),
  );
  return new Map<string, unknown>([
    ["chain/ledger.json", { rows: ledger.rows.map(rowVector), files: fileVectors(ledger) }],
    ["chain/report.json", reportVector(await verifyLedger(ledger))],
    ["chain/broken.json", broken],
  ]);
}

function reportVector(report: VerifyReport): unknown {
  // The report in its frozen form: without proofs and signatures, which were added later.
  const { log: _log, proofs: _proofs, areas: _areas, ...frozen } = report;
  return { ...frozen, headHash: toHex(report.headHash) };
}

function rowVector(row: LedgerRow): unknown {
  const record = decodeRecord(row.record);
  const entries = record instanceof Malformed ? [] : record.entries.map((entry) => entry.kind.case);
  return { ...row, entries, hash: toHex(row.hash), record: toHex(row.record), content: toHex(row.content) };
}

/** Files are too long to be written out: byte i of one is i modulo a number. */
function fileVectors(ledger: LedgerBuilder): unknown {
  return [...ledger.files].map(([digest, bytes]) => ({ digest, size: bytes.length, modulus: FILE_MODULUS }));
}
