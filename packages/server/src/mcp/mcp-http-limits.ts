export interface McpHttpLimits {
  /** Of one message. */
  readonly maxBodyBytes: number;
  /** How long a request that has begun may send nothing. */
  readonly bodyIdleTimeoutMs: number;
  /** Connections of the previous revision that are open at once; the one unused for longest goes first. */
  readonly maxConnections: number;
  /** Requests of one connection that run at once. */
  readonly maxRequestsPerConnection: number;
  /** A connection that nothing was sent on for so long is closed. */
  readonly idleTimeoutMs: number;
  /** How often it is looked whether connections are still good for something. */
  readonly sweepMs: number;
  /** Sessions of the kernel of which something is remembered. */
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
