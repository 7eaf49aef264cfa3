/** How patient a client of a kernel is that may go at any time. */
export interface LinkTimeouts {
  /** How long a first kernel is looked for. */
  readonly startMs: number;
  /** How long a call waits for the next kernel. */
  readonly waitMs: number;
  /** How often a kernel whose answer is waited for is asked whether it is there. */
  readonly askMs: number;
  /** A kernel that answers nothing for so long hangs. */
  readonly silenceMs: number;
  /** The same for one that is met for the first time. */
  readonly greetingMs: number;
  /** A kernel that was served gets so long to come back before another takes its place. */
  readonly returnMs: number;
  /** After a connection broke, word that its kernel has gone comes within this. */
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
