/** The outcome of a command in one of the two worlds. */
export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "values"; readonly values: readonly string[] }
  | { readonly kind: "trap"; readonly message: string }
  /** The stack, or the call depth, was exhausted. */
  | { readonly kind: "exhausted" }
  /** The module does not compile or link, or the name does not exist. */
  | { readonly kind: "failed"; readonly message: string }
  /** The meter refuses the module, or one that it needs. */
  | { readonly kind: "rejected"; readonly reason: string };

export function showOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case "done":
    case "exhausted":
      return outcome.kind;
    case "values":
      return `[${outcome.values.join(", ")}]`;
    case "trap":
    case "failed":
      return `${outcome.kind}: ${outcome.message}`;
    case "rejected":
      return `rejected: ${outcome.reason}`;
  }
}
