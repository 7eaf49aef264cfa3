const MB = 1024 * 1024;

/** Limits for every MCP server. */
export const SERVER_LIMITS = {
  /** Size of one message. */
  lineBytes: 8 * MB,
  /** Messages between one request and the next: responses, progress, other output. */
  lines: 10_000,
  bytes: 64 * MB,
  /** Requests by the server that are rejected before it is ended. */
  refusedRequests: 1,
  /** Tail of standard error that is kept. */
  saidBytes: 4096,
  tools: 256,
  pages: 32,
  /** Size of one tool definition. */
  definitionBytes: 256 * 1024,
  /** Time from the start to the first list of tools. */
  startMs: 15_000,
  /** Time without a call. */
  idleMs: 5 * 60_000,
  /** CPU time between calls. */
  idleCpuMs: 10_000,
  /** Processes of all servers and sessions. */
  processes: 32,
  /** Calls that wait for one process. */
  waiting: 64,
  /** Delay before the second restart in a row; doubles with each further one. */
  firstPauseMs: 1000,
  longestPauseMs: 5 * 60_000,
  /** HTTP requests of one connection; after that a new one is opened. */
  requests: 100_000,
  networkBytes: 8 * 1024 * MB,
  /** How often a broken response stream is resumed, and the delay before that unless the server sets one. */
  resumptions: 16,
  retryMs: 1000,
  longestRetryMs: 30_000,
  /** Time for the last requests to a server that is being closed. */
  leaveMs: 1000,
  memoryBytes: 2048 * MB,
  processesInside: 128,
} as const;
