/** Time limits of a client whose kernel may end at any time. */
export interface LinkTimeouts {
  /** How long to look for the first kernel. */
  readonly startMs: number;
  /** How long a call waits for the next kernel. */
  readonly waitMs: number;
  /** Interval of health checks while a response is awaited. */
  readonly askMs: number;
  /** A kernel that does not respond within this time is unresponsive. */
  readonly silenceMs: number;
  /** The same limit for a newly found kernel. */
  readonly greetingMs: number;
  /** Time that a kernel started with `serve` gets to come back before another takes its place. */
  readonly returnMs: number;
  /** Maximum time after a broken connection until the end of its kernel is noticed. */
  readonly wordMs: number;
}

export const LINK_TIMEOUTS: LinkTimeouts = {
  startMs: 20_000,
  waitMs: 20_000,
  askMs: 5000,
  silenceMs: 30_000,
  greetingMs: 5000,
  returnMs: 5000,
  wordMs: 2000,
};
