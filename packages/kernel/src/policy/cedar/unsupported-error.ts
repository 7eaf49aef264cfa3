/** Thrown while a rule is compiled: it uses what this evaluator does not know. */
export class UnsupportedError extends Error {
  override readonly name = "UnsupportedError";
}
