export interface ConsoleLimits {
  /** How long a printed link opens the console. */
  readonly codeTtlMs: number;
  /** Links that can be open at once; the oldest goes first. */
  readonly maxCodes: number;
  readonly signInTtlMs: number;
  /** People signed in at once; who signed in first is signed out first. */
  readonly maxSignIns: number;
  /** Wrong codes a minute that are answered and recorded one by one. */
  readonly maxFailuresPerMinute: number;
  readonly maxBodyBytes: number;
  readonly bodyIdleTimeoutMs: number;
  readonly maxLiveStreams: number;
  /** Calls that a page is told of when it opens are looked for in so many records. */
  readonly lookBackRecords: number;
  /** How often a page hears that it is still connected. */
  readonly heartbeatMs: number;
  /** Of one input, in one answer; the rest is asked for. */
  readonly maxShownCharacters: number;
  readonly maxShownFields: number;
}

export const DEFAULT_CONSOLE_LIMITS: ConsoleLimits = {
  codeTtlMs: 10 * 60_000,
  maxCodes: 16,
  signInTtlMs: 12 * 60 * 60_000,
  maxSignIns: 32,
  maxFailuresPerMinute: 10,
  maxBodyBytes: 16 * 1024,
  bodyIdleTimeoutMs: 10_000,
  maxLiveStreams: 32,
  lookBackRecords: 1000,
  heartbeatMs: 15_000,
  maxShownCharacters: 32 * 1024,
  maxShownFields: 64,
};
