export interface McpHttpLimits {
  /** Maximum size of one message. */
  readonly maxBodyBytes: number;
  /** How long a started request may send nothing. */
  readonly bodyIdleTimeoutMs: number;
  /** Maximum number of open connections of the previous revision; the least recently used is closed first. */
  readonly maxConnections: number;
  /** Maximum number of running requests per connection. */
  readonly maxRequestsPerConnection: number;
  /** A connection without requests for this long is closed. */
  readonly idleTimeoutMs: number;
  /** Interval at which unused connections are closed. */
  readonly sweepMs: number;
  /** Maximum number of the kernel's sessions whose state is kept. */
  readonly maxSessions: number;
}

export const DEFAULT_MCP_HTTP_LIMITS: McpHttpLimits = {
  maxBodyBytes: 16 * 1024 * 1024,
  bodyIdleTimeoutMs: 20_000,
  maxConnections: 256,
  maxRequestsPerConnection: 64,
  idleTimeoutMs: 30 * 60_000,
  sweepMs: 15_000,
  maxSessions: 1024,
};
