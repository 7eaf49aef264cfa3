import { MAX_FRAME_BYTES, MAX_JSON_BODY_BYTES } from "@narthex/contracts";

export interface ServiceLimits {
  readonly maxConnections: number;
  /** Maximum number of active requests, over all connections. */
  readonly maxRequests: number;
  readonly maxStreamsPerConnection: number;
  /** Maximum size of one binary ToolRequest. */
  readonly maxMessageBytes: number;
  /** Maximum size of one ToolRequest in JSON. */
  readonly maxJsonBytes: number;
  /** Maximum size of one message of any other RPC. */
  readonly maxOtherMessageBytes: number;
  /** Maximum number of calls of one Session stream that run or whose responses are unread. */
  readonly maxCallsPerStream: number;
  /** Maximum total size of the requests of those calls; a larger request runs alone. */
  readonly maxBytesPerStream: number;
  /** From connecting to the first bytes that tell HTTP/1.1 from HTTP/2. */
  readonly prefaceTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Time limit for a complete HTTP/1.1 request. */
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** How long a started request may send nothing. */
  readonly bodyIdleTimeoutMs: number;
  /** How long an HTTP/2 connection may have no request. */
  readonly sessionIdleTimeoutMs: number;
  /** How long a response may wait for a client that does not read. */
  readonly writeTimeoutMs: number;
}

export const DEFAULT_SERVICE_LIMITS: ServiceLimits = {
  maxConnections: 2048,
  maxRequests: 4096,
  maxStreamsPerConnection: 256,
  maxMessageBytes: MAX_FRAME_BYTES,
  maxJsonBytes: MAX_JSON_BODY_BYTES,
  maxOtherMessageBytes: MAX_JSON_BODY_BYTES,
  maxCallsPerStream: 256,
  maxBytesPerStream: 64 * 1024 * 1024,
  prefaceTimeoutMs: 5000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 300_000,
  keepAliveTimeoutMs: 30_000,
  bodyIdleTimeoutMs: 20_000,
  sessionIdleTimeoutMs: 300_000,
  writeTimeoutMs: 60_000,
};

/** How much of an unfinished message may be held before its token is checked. */
export const UNCHECKED_BYTES = 8 * 1024;
/** How many bytes are searched for the token. */
export const HEAD_BYTES = 4 * 1024;
/** Larger binary messages are refused unless their first fields contain the token. */
export const TOKEN_FIRST_ABOVE_BYTES = 1024 * 1024;
/** Maximum total size of all unfinished messages without a known token, beyond `UNCHECKED_BYTES` each. */
export const UNAUTHENTICATED_BYTES = 8 * 1024 * 1024;
