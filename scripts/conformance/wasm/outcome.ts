/** What came of a command in one of the two worlds. */
export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "values"; readonly values: readonly string[] }
  | { readonly kind: "trap"; readonly message: string }
  /** The stack, or the call depth, was used up. */
  | { readonly kind: "exhausted" }
  /** It does not compile or link, or there is nothing of that name. */
  | { readonly kind: "failed"; readonly message: string }
  /** The meter does not take the module, or one that it needs. */
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
