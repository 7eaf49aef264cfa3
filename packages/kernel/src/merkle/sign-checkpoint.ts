import { KernelError, toHex, utf8 } from "@narthex/contracts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import { isConsistent } from "./check-proof.ts";
import { checkpointText, type TreeHead } from "./checkpoint-note.ts";
import { checkpointRow, merkleRow } from "./merkle-row.ts";
import type { MerkleParts, SignableTree } from "./open-tree.ts";
import { checkpointNote, type SignedCheckpoint } from "./recorded-checkpoint.ts";

/**
 * SPEC: docs/formats/log.md limits the distance between a checkpoint's record and the last record it covers; half of
 * the limit is reserved for records that are pending.
 */
const MAX_LAG = 65_536 / 2;
const MAX_ATTEMPTS = 8;

/** Number of records that no checkpoint covers, not counting the record of the checkpoint itself. */
export function countUncovered(head: SignedCheckpoint | undefined, durable: number): number {
  return head === undefined ? durable : durable - head.size - 1;
}

/** Signs a checkpoint for all durable records, records it and publishes it. The key must have been announced. */
export async function signCheckpoint(log: SignableTree, parts: MerkleParts): Promise<SignedCheckpoint> {
  const { signer, key, keyRecords } = log;
  const { ledger, publication } = parts;
  const head = await growTree(log.head, parts);
  await requireExtension(log.head, head, parts);
  const signature = await signer.sign(utf8(checkpointText({ origin: key.name, ...head })));
  const keyId = toHex(key.id);
  const value = { treeSize: head.size, rootHash: head.root, keyId, signature };
  const { index } = await ledger.append({
    chain: SYSTEM_CHAIN,
    entries: [{ case: "checkpointSigned", value }],
    state: (recordIndex) => [
      merkleRow({ keyRecords, checkpointRecord: recordIndex }),
      checkpointRow(head.size, recordIndex),
    ],
  });
  const note = checkpointNote(key.name, { ...head, keyId, signature });
  await publication.writeCheckpoint(note);
  return { ...head, recordIndex: index, keyId, note };
}

/** Grows the tree to the durable records. Records that arrive during a long run are included as well. */
async function growTree(from: TreeHead | undefined, { ledger, tree }: MerkleParts): Promise<TreeHead> {
  let head = from;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    head = await tree.grow(head, ledger.durableCount());
    if (ledger.durableCount() - head.size <= MAX_LAG) return head;
  }
  throw new KernelError("STORE_UNAVAILABLE", "records come faster than the log can take them in");
}

/**
 * SECURITY: the new tree must extend every tree that was signed. The proof is made from the same files that any
 * verifier would use.
 */
async function requireExtension(from: TreeHead | undefined, to: TreeHead, { tree }: MerkleParts): Promise<void> {
  if (from === undefined) return;
  const path = await tree.proveConsistency(from.size, to.size);
  if (isConsistent({ from: from.size, fromRoot: from.root, to: to.size, toRoot: to.root, path })) return;
  throw new KernelError(
    "LOG_CONTRADICTS",
    `the tree of ${to.size} records does not extend the checkpoint of ${from.size}; run \`narthex ledger verify\``,
  );
}
