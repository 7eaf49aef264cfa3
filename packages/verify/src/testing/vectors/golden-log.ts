import { fromHex, toHex } from "@narthex/contracts";
import type { LedgerRow, LedgerSource } from "../../ledger-source.ts";
import { parseCheckpoint } from "../../merkle/checkpoint.ts";
import { parseVerifierKey } from "../../merkle/verifier-key.ts";
import { verifyLedger } from "../../verify-ledger.ts";

/**
 * A whole ledger with its Merkle tree in one file: the files of its home, and the externally kept data. Bytes are in
 * hex.
 */
export interface GoldenLog {
  readonly rows: readonly GoldenRow[];
  /** Content files by their hash. */
  readonly files: { readonly [digest: string]: string };
  readonly checkpoint: string;
  /** By level, number and count of hashes. */
  readonly tiles: { readonly [place: string]: string };
  readonly trusted_key: string;
  readonly kept_checkpoint: string;
}

interface GoldenRow {
  readonly index: number;
  readonly chain: string;
  readonly sequence: number;
  readonly hash: string;
  readonly record: string;
  readonly content: string;
}

export function goldenRow({ index, chain, sequence, hash, record, content }: LedgerRow): GoldenRow {
  return { index, chain, sequence, hash: toHex(hash), record: toHex(record), content: toHex(content) };
}

/** The verification report for a verifier that trusts its key and has kept its checkpoint. */
export async function goldenReport(log: GoldenLog): Promise<unknown> {
  const trustedKey = parseVerifierKey(log.trusted_key);
  const kept = parseCheckpoint(log.kept_checkpoint);
  if (trustedKey === undefined || kept === undefined) throw new Error("the golden log has no key or no checkpoint");
  const report = await verifyLedger(goldenSource(log), { trustedKey, keptCheckpoints: [kept] });
  const provenRoot = toHex(report.log.provenRoot);
  return { ...report, headHash: toHex(report.headHash), log: { ...report.log, provenRoot } };
}

function goldenSource({ rows, files, checkpoint, tiles }: GoldenLog): LedgerSource {
  return {
    async *records() {
      for (const row of rows) {
        yield { ...row, hash: bytes(row.hash), record: bytes(row.record), content: bytes(row.content) };
      }
    },
    readFile: (digest) => oneChunk(files[toHex(digest)]),
    log: {
      readCheckpoint: async () => checkpoint,
      readTile: async (level, number, hashes) => {
        const tile = tiles[`${level}/${number}/${hashes}`];
        return tile === undefined ? undefined : bytes(tile);
      },
    },
  };
}

function oneChunk(hex: string | undefined): AsyncIterable<Uint8Array> | undefined {
  if (hex === undefined) return undefined;
  return (async function* () {
    yield bytes(hex);
  })();
}

function bytes(hex: string): Uint8Array {
  const read = fromHex(hex);
  if (read === undefined) throw new Error("a golden log has bytes that are no hex");
  return read;
}
