import { MAX_FRAME_BYTES } from "@narthex/contracts";

export interface FramedLimits {
  readonly maxConnections: number;
  /** Calls one connection may have running; then nothing more is read from it. */
  readonly maxCallsPerConnection: number;
  readonly maxFrameBytes: number;
  /** From connecting to the whole preface. */
  readonly prefaceTimeoutMs: number;
  /** From a frame's first byte to its last; with a valid token in front each MB adds a second. */
  readonly frameTimeoutMs: number;
  /** How long an answer may wait for a client that does not read. */
  readonly writeTimeoutMs: number;
}

export const DEFAULT_FRAMED_LIMITS: FramedLimits = {
  maxConnections: 2048,
  maxCallsPerConnection: 512,
  maxFrameBytes: MAX_FRAME_BYTES,
  prefaceTimeoutMs: 5000,
  frameTimeoutMs: 20_000,
  writeTimeoutMs: 60_000,
};

/** Frames above this are refused when their first fields do not hold the token. */
export const TOKEN_FIRST_ABOVE_BYTES = 1024 * 1024;
/** How much of an unfinished frame a connection may hold before its token is looked at. */
export const UNCHECKED_BYTES = 8 * 1024;
/** Where the first fields are looked for: three strings of 256 characters fit. */
export const HEAD_BYTES = 4 * 1024;
/** What all unfinished frames without a token in front may hold together, beyond `UNCHECKED_BYTES` each. */
export const UNAUTHENTICATED_BYTES = 4 * 1024 * 1024;
