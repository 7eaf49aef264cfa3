export interface CodeFacts {
  /** Whether the same call may succeed later. Repeating it never runs anything twice that had an effect. */
  readonly retryable: boolean;
  /** What happened. */
  readonly meaning: string;
  /** What the caller should do next. */
  readonly next: string;
}
