/** A request that the console does not take: how it is answered, and how the ledger counts it. */
export class ConsoleRefusal extends Error {
  readonly status: number;
  /** From a closed set; empty for what is not recorded. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.name = "ConsoleRefusal";
    this.status = status;
    this.reason = reason;
  }
}
