import { create, HASH_SIZE } from "@narthex/contracts";
import {
  VerifiedCheckpointSchema,
  type VerifiedKey,
  VerifiedKeySchema,
  type VerifiedLedger,
  VerifiedTileSchema,
} from "@narthex/contracts/verified";
import type { Chain } from "../chain.ts";
import { sameBytes } from "../ledger-hash.ts";
import { type Checkpoint, isSignedBy, parseCheckpoint } from "../merkle/checkpoint.ts";
import type { AnnouncedKey } from "../merkle/key-history.ts";
import { parseVerifierKey } from "../merkle/verifier-key.ts";
import { TreeEdge } from "../merkle/tree-edge.ts";
import type { VerifiedTree } from "../merkle/verified-tree.ts";
import { chainFromState, chainToState } from "./chain-state.ts";
import { exactNumber } from "./exact-number.ts";
import { decodeVerified, encodeVerified, VerifiedFault } from "./verified-file.ts";

/** The state of a run without problems after the last record. */
export interface VerifiedState {
  readonly records: number;
  readonly headHash: Uint8Array;
  readonly wallTimeMs: number;
  readonly contentItems: number;
  readonly erasedItems: number;
  readonly leftOutItems: number;
  readonly proofs: number;
  readonly chains: readonly Chain[];
  readonly verifiedTree: VerifiedTree;
  readonly verifiedAtMs: number;
}

/** Undefined if the result is too large. */
export function encodeVerifiedState(state: VerifiedState): Uint8Array | undefined {
  const { verifiedTree } = state;
  return encodeVerified({
    checkpoint: verifiedTree.note,
    keys: verifiedTree.keys.map(({ key, recordIndex, afterLoss }) =>
      create(VerifiedKeySchema, { verifierKey: key.text, recordIndex: BigInt(recordIndex), afterLoss }),
    ),
    records: BigInt(state.records),
    headHash: new Uint8Array(state.headHash),
    wallTimeMs: BigInt(state.wallTimeMs),
    contentItems: BigInt(state.contentItems),
    erasedItems: BigInt(state.erasedItems),
    leftOutItems: BigInt(state.leftOutItems),
    proofs: BigInt(state.proofs),
    checkpoints: BigInt(verifiedTree.checkpoints),
    firstKeyIndex: BigInt(verifiedTree.firstKeyIndex),
    chains: state.chains.map(chainToState),
    edge: verifiedTree.edge.map(({ number, hashes }) => create(VerifiedTileSchema, { number: BigInt(number), hashes })),
    tailHashes: verifiedTree.tail,
    kept: verifiedTree.kept.map(({ size, root }) =>
      create(VerifiedCheckpointSchema, { size: BigInt(size), root: new Uint8Array(root) }),
    ),
    verifiedAtMs: BigInt(state.verifiedAtMs),
  });
}

/**
 * Throws a VerifiedFault if the state contradicts itself. SECURITY: the tree must be the one that its checkpoint was
 * signed for, by a key named in the state; the caller decides whether that key is trusted.
 */
export function decodeVerifiedState(bytes: Uint8Array): VerifiedState {
  const stored = decodeVerified(bytes);
  const log = toVerifiedTree(stored);
  const records = exactNumber(stored.records);
  const { headHash } = stored;
  if (log.size + log.tail.length / HASH_SIZE !== records || !sameBytes(log.tail.subarray(-HASH_SIZE), headHash)) {
    throw new VerifiedFault("its records are not those of its log");
  }
  const chains = stored.chains.map(chainFromState);
  checkChains(chains, records, log);
  return {
    records,
    headHash,
    wallTimeMs: exactNumber(stored.wallTimeMs),
    contentItems: exactNumber(stored.contentItems),
    erasedItems: exactNumber(stored.erasedItems),
    leftOutItems: exactNumber(stored.leftOutItems),
    proofs: exactNumber(stored.proofs),
    chains,
    verifiedTree: log,
    verifiedAtMs: exactNumber(stored.verifiedAtMs),
  };
}

/** The root over all records that were read. */
export function rootOfState({ verifiedTree }: VerifiedState): Uint8Array {
  const tree = edgeOf(verifiedTree);
  for (let at = 0; at < verifiedTree.tail.length; at += HASH_SIZE)
    tree.add(verifiedTree.tail.subarray(at, at + HASH_SIZE));
  return tree.root();
}

function toVerifiedTree(stored: VerifiedLedger): VerifiedTree {
  const checkpoint = parseCheckpoint(stored.checkpoint);
  if (checkpoint === undefined) throw new VerifiedFault("its checkpoint is none");
  const keys = stored.keys.map(keyOf);
  requireSigned(checkpoint, keys);
  const tail = new Uint8Array(stored.tailHashes);
  if (tail.length === 0 || tail.length % HASH_SIZE !== 0) throw new VerifiedFault("it has no hashes of records");
  const log: VerifiedTree = {
    keys,
    firstKeyIndex: exactNumber(stored.firstKeyIndex),
    note: stored.checkpoint,
    size: checkpoint.size,
    root: checkpoint.root,
    checkpoints: exactNumber(stored.checkpoints),
    edge: stored.edge.map(({ number, hashes }) => ({ number: exactNumber(number), hashes: new Uint8Array(hashes) })),
    tail,
    kept: stored.kept.map(({ size, root }) => ({ size: exactNumber(size), root })),
  };
  const tree = edgeOf(log);
  if (tree.size !== log.size || !sameBytes(tree.root(), log.root)) {
    throw new VerifiedFault("its tree is not the one that its checkpoint was signed for");
  }
  return log;
}

function keyOf({ verifierKey, recordIndex, afterLoss }: VerifiedKey): AnnouncedKey {
  const key = parseVerifierKey(verifierKey);
  if (key === undefined) throw new VerifiedFault("a key in it is none");
  return { key, recordIndex: exactNumber(recordIndex), afterLoss };
}

function requireSigned(checkpoint: Checkpoint, keys: readonly AnnouncedKey[]): void {
  if (keys.some(({ key }) => isSignedBy(checkpoint, key))) return;
  throw new VerifiedFault("none of its keys has signed its checkpoint");
}

function edgeOf({ edge }: VerifiedTree): TreeEdge {
  const tree = new TreeEdge(() => undefined);
  if (!tree.restore(edge)) throw new VerifiedFault("its tree is none");
  return tree;
}

/** Checks that every record is in one chain, and that the hashes of the newest ones match. */
function checkChains(chains: readonly Chain[], records: number, { size, tail }: VerifiedTree): void {
  let count = 0;
  for (const { nextSequence, headIndex, headHash } of chains) {
    count += nextSequence;
    const at = (headIndex - size) * HASH_SIZE;
    const isOther = at >= 0 && !sameBytes(headHash?.view() ?? tail, tail.subarray(at, at + HASH_SIZE));
    if (headIndex >= records || isOther) throw new VerifiedFault("a chain in it does not end where it says");
  }
  const names = new Set(chains.map(({ name }) => name));
  if (count !== records || names.size !== chains.length) throw new VerifiedFault("its chains are not its records");
}
