import { MAX_FRAME_BYTES } from "@narthex/contracts";

export interface FramedLimits {
  readonly maxConnections: number;
  /** Maximum number of running calls per connection; beyond it nothing more is read from the connection. */
  readonly maxCallsPerConnection: number;
  readonly maxFrameBytes: number;
  /** From connecting to the complete preface. */
  readonly prefaceTimeoutMs: number;
  /** From a frame's first byte to its last; with a valid token at the front each MB adds a second. */
  readonly frameTimeoutMs: number;
  /** How long a response may wait for a client that does not read. */
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

/** Larger frames are refused unless their first fields contain the token. */
export const TOKEN_FIRST_ABOVE_BYTES = 1024 * 1024;
/** How much of an unfinished frame a connection may hold before its token is checked. */
export const UNCHECKED_BYTES = 8 * 1024;
/** How many bytes are searched for the first fields: three strings of 256 characters fit. */
export const HEAD_BYTES = 4 * 1024;
/** Maximum total size of all unfinished unauthenticated frames, beyond `UNCHECKED_BYTES` each. */
export const UNAUTHENTICATED_BYTES = 4 * 1024 * 1024;
