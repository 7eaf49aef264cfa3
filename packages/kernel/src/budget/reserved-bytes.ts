import { type BudgetAccount, type BudgetShortfall, isShortfall, type Reservation } from "./budget-account.ts";

/**
 * Bytes of one call or put, reserved as they come, each before it is written or sent: concurrent ones cannot overspend
 * together. One reservation grows, so that a stream of any length costs the same memory.
 */
export class ReservedBytes {
  readonly #account: BudgetAccount;
  readonly #dimension: "stored_bytes" | "network_bytes";
  #reservation: Reservation | undefined;
  #bytes = 0;

  constructor(account: BudgetAccount, dimension: "stored_bytes" | "network_bytes") {
    this.#account = account;
    this.#dimension = dimension;
  }

  /** How many bytes are reserved. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Reserves more, or answers what is missing and reserves nothing. */
  add(bytes: number): BudgetShortfall | undefined {
    if (bytes === 0) return undefined;
    const wanted = this.#account.shortfall({ [this.#dimension]: bytes });
    if (wanted !== undefined) return wanted;
    // INVARIANT: nothing is awaited here, so what was just looked at, and what is given up, is still there to take.
    const total = this.#bytes + bytes;
    if (this.#reservation !== undefined) this.#account.settle(this.#reservation, {});
    const reservation = this.#account.reserve({ [this.#dimension]: total });
    this.#reservation = isShortfall(reservation) ? undefined : reservation;
    this.#bytes = total;
    return undefined;
  }

  /** What was really used is spent, the rest is free again. */
  settle(used: number): void {
    const reservation = this.#reservation;
    this.#reservation = undefined;
    this.#bytes = 0;
    if (reservation !== undefined) this.#account.settle(reservation, used === 0 ? {} : { [this.#dimension]: used });
  }
}
