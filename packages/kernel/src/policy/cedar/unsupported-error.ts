/** Thrown when a rule cannot be compiled because it uses a feature that this evaluator does not support. */
export class UnsupportedError extends Error {
  override readonly name = "UnsupportedError";
}
