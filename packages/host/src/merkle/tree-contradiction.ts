/**
 * Thrown if the files of the Merkle tree contradict the ledger. The message says what was found, not which of them is
 * wrong.
 */
export class TreeContradiction extends Error {
  override readonly name = "LogContradiction";
}
