import type { BudgetAccount, BudgetShortfall, Reservation } from "../budget/budget-account.ts";
import { isShortfall } from "../budget/budget-account.ts";

/**
 * Stored bytes of one call or put, reserved as they come, each before it is written: concurrent ones cannot overspend
 * together. One reservation grows, so that a stream of any length costs the same memory.
 */
export class StoredBytes {
  readonly #account: BudgetAccount;
  #reservation: Reservation | undefined;
  #bytes = 0;

  constructor(account: BudgetAccount) {
    this.#account = account;
  }

  /** How many bytes are reserved. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Reserves more, or answers what is missing and reserves nothing. */
  add(bytes: number): BudgetShortfall | undefined {
    if (bytes === 0) return undefined;
    const wanted = this.#account.shortfall({ stored_bytes: bytes });
    if (wanted !== undefined) return wanted;
    // INVARIANT: nothing is awaited here, so what was just looked at, and what is given up, is still there to take.
    const total = this.#bytes + bytes;
    if (this.#reservation !== undefined) this.#account.settle(this.#reservation, {});
    const reservation = this.#account.reserve({ stored_bytes: total });
    this.#reservation = isShortfall(reservation) ? undefined : reservation;
    this.#bytes = total;
    return undefined;
  }

  /** What was really stored is spent, the rest is free again. */
  settle(stored: number): void {
    const reservation = this.#reservation;
    this.#reservation = undefined;
    this.#bytes = 0;
    if (reservation !== undefined) this.#account.settle(reservation, stored === 0 ? {} : { stored_bytes: stored });
  }
}
