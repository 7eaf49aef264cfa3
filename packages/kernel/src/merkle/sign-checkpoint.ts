import { KernelError, toHex, utf8 } from "@narthex/contracts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import { isConsistent } from "./check-proof.ts";
import { checkpointText, type TreeHead } from "./checkpoint-note.ts";
import { checkpointRow, merkleRow } from "./merkle-row.ts";
import type { MerkleParts, SignableTree } from "./open-tree.ts";
import { checkpointNote, type SignedCheckpoint } from "./recorded-checkpoint.ts";

/** SPEC: docs/formats/log.md: so far apart a checkpoint and the last record it covers may be; half of it is left for those on their way. */
const MAX_LAG = 65_536 / 2;
const MAX_ATTEMPTS = 8;

/** How many records no checkpoint covers, its own record apart. */
export function countUncovered(head: SignedCheckpoint | undefined, durable: number): number {
  return head === undefined ? durable : durable - head.size - 1;
}

/** Signs for all that is durable, records it, and publishes it. The key has been announced. */
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

/** Records go on coming meanwhile: those that came while much had to be done are taken in as well. */
async function growTree(from: TreeHead | undefined, { ledger, tree }: MerkleParts): Promise<TreeHead> {
  let head = from;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    head = await tree.grow(head, ledger.durableCount());
    if (ledger.durableCount() - head.size <= MAX_LAG) return head;
  }
  throw new KernelError("STORE_UNAVAILABLE", "records come faster than the log can take them in");
}

/** SECURITY: what was signed once binds. The proof is made from the same files that anybody else would use. */
async function requireExtension(from: TreeHead | undefined, to: TreeHead, { tree }: MerkleParts): Promise<void> {
  if (from === undefined) return;
  const path = await tree.proveConsistency(from.size, to.size);
  if (isConsistent({ from: from.size, fromRoot: from.root, to: to.size, toRoot: to.root, path })) return;
  throw new KernelError(
    "LOG_CONTRADICTS",
    `the tree of ${to.size} records does not extend the checkpoint of ${from.size}; run \`narthex ledger verify\``,
  );
}
