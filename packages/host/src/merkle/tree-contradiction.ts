/** The log's files and the ledger cannot both be right. The message says what was found, and names no one. */
export class TreeContradiction extends Error {
  override readonly name = "LogContradiction";
}
