export interface ConsoleLimits {
  /** How long a printed link stays valid. */
  readonly codeTtlMs: number;
  /** Maximum number of unused links; the oldest is dropped first. */
  readonly maxCodes: number;
  readonly signInTtlMs: number;
  /** Maximum number of signed-in users; the oldest sign-in is dropped first. */
  readonly maxSignIns: number;
  /** Wrong codes per minute that are responded to and recorded one by one. */
  readonly maxFailuresPerMinute: number;
  readonly maxBodyBytes: number;
  readonly bodyIdleTimeoutMs: number;
  readonly maxLiveStreams: number;
  /** Number of records that are searched for recent calls when a page opens. */
  readonly lookBackRecords: number;
  /** Interval of heartbeats to an open page. */
  readonly heartbeatMs: number;
  /** Maximum number of characters of one input in one response; the page requests the rest. */
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
