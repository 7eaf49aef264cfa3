/** A refused console request: its HTTP status and the reason that the ledger counts. */
export class ConsoleRefusal extends Error {
  readonly status: number;
  /** One of a fixed set; empty if it is not recorded. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.name = "ConsoleRefusal";
    this.status = status;
    this.reason = reason;
  }
}
