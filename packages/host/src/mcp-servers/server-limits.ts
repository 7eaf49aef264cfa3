const MB = 1024 * 1024;

/** Whatever a server does, it does within these. */
export const SERVER_LIMITS = {
  /** One message. */
  lineBytes: 8 * MB,
  /** What it may say between one request and the next: an answer, progress, noise. */
  lines: 10_000,
  bytes: 64 * MB,
  /** Requests of its own that are refused before it is ended. */
  refusedRequests: 1,
  /** The end of what it writes to standard error. */
  saidBytes: 4096,
  tools: 256,
  pages: 32,
  /** Everything that is kept of one tool's definition. */
  definitionBytes: 256 * 1024,
  /** Up to its first list of tools. */
  startMs: 15_000,
  /** Without a call. */
  idleMs: 5 * 60_000,
  /** On the processor, while nobody calls it. */
  idleCpuMs: 10_000,
  /** Of all servers and sessions together. */
  processes: 32,
  /** Calls that wait for one process. */
  waiting: 64,
  /** Before the second restart in a row, doubled for each one more. */
  firstPauseMs: 1000,
  longestPauseMs: 5 * 60_000,
  /** Of one conversation over HTTP; after that another is begun. */
  requests: 100_000,
  networkBytes: 8 * 1024 * MB,
  /** How often an answer may break off and go on, and how long the server is left alone in between, unless it says so. */
  resumptions: 16,
  retryMs: 1000,
  longestRetryMs: 30_000,
  /** For what is said to a server that is not asked any more. */
  leaveMs: 1000,
  memoryBytes: 2048 * MB,
  processesInside: 128,
} as const;
