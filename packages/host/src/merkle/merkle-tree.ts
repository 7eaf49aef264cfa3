import { KernelError } from "@narthex/contracts";
import type { MerkleTree } from "@narthex/kernel";
import type { Reader } from "../store/reader.ts";
import type { TreeResult } from "./tree-methods.ts";

/** The Merkle tree over the records of a reader. */
export function createMerkleTree(reader: Reader): MerkleTree {
  return {
    grow: async (from, size) => valueOf(await reader.ask("growTree", from, size)),
    proveInclusion: async (index, size) => valueOf(await reader.ask("inclusionPath", index, size)),
    proveConsistency: async (from, to) => valueOf(await reader.ask("consistencyPath", from, to)),
  };
}

function valueOf<T>(answer: TreeResult<T>): T {
  if ("value" in answer) return answer.value;
  throw new KernelError(
    "LOG_CONTRADICTS",
    `${answer.contradiction}; run \`narthex ledger verify\`, and put back a backup of whichever is wrong`,
  );
}
