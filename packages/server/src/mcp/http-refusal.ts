/** A request that does not reach an MCP server: rejected with an HTTP status and a JSON-RPC error. */
export class HttpRefusal extends Error {
  readonly status: number;
  /** Reason that the ledger counts; empty if there is nothing to count. */
  readonly reason: string;
  /** JSON-RPC error code. */
  readonly code: number;
  readonly bytes: Uint8Array | undefined;

  constructor(status: number, reason: string, message: string, options: { code?: number; bytes?: Uint8Array } = {}) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.code = options.code ?? SERVER_ERROR;
    this.bytes = options.bytes;
  }
}

const SERVER_ERROR = -32_000;
export const PARSE_ERROR = -32_700;
export const INVALID_REQUEST = -32_600;
