export interface CodeFacts {
  /** The same call may succeed later, and repeating it runs nothing twice that had an effect. */
  readonly retryable: boolean;
  /** What happened. */
  readonly meaning: string;
  /** What the caller does next. */
  readonly next: string;
}
