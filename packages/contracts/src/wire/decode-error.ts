import { KernelError, type Violation } from "../kernel-error.ts";

/** Thrown for bytes that are not one well-formed message. */
export class DecodeError extends KernelError {
  override readonly name = "DecodeError";

  constructor(violations: readonly Violation[]) {
    const first = violations[0];
    const place = first === undefined || first.field === "" ? "" : ` at \`${first.field}\``;
    super("INVALID_REQUEST", `the bytes are not a well-formed message${place}: ${first?.message ?? "no reason"}`, {
      violations,
    });
  }
}
