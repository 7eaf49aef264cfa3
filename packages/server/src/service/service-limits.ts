import { MAX_FRAME_BYTES, MAX_JSON_BODY_BYTES } from "@narthex/contracts";

export interface ServiceLimits {
  readonly maxConnections: number;
  /** Requests being read or answered at once, over all connections. */
  readonly maxRequests: number;
  readonly maxStreamsPerConnection: number;
  /** Of one binary ToolRequest. */
  readonly maxMessageBytes: number;
  /** Of one ToolRequest in JSON. */
  readonly maxJsonBytes: number;
  /** Of one message of any other RPC. */
  readonly maxOtherMessageBytes: number;
  /** Calls of one Session stream that run or wait to be read by the client. */
  readonly maxCallsPerStream: number;
  /** Bytes of the requests of those calls; one that is larger runs alone. */
  readonly maxBytesPerStream: number;
  /** From connecting to the first bytes that tell HTTP/1.1 from HTTP/2. */
  readonly prefaceTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** The whole of an HTTP/1.1 request. */
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** How long a request that has begun may send nothing. */
  readonly bodyIdleTimeoutMs: number;
  /** How long a connection of HTTP/2 may carry no request. */
  readonly sessionIdleTimeoutMs: number;
  /** How long an answer may wait for a client that does not read. */
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

/** How much of an unfinished message may be held before its token is looked for. */
export const UNCHECKED_BYTES = 8 * 1024;
/** Where the token is looked for. */
export const HEAD_BYTES = 4 * 1024;
/** Binary messages above this are refused when their first fields do not hold the token. */
export const TOKEN_FIRST_ABOVE_BYTES = 1024 * 1024;
/** What all unfinished messages without a known token may hold together, beyond `UNCHECKED_BYTES` each. */
export const UNAUTHENTICATED_BYTES = 8 * 1024 * 1024;
