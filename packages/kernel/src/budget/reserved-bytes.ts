import { type BudgetAccount, type BudgetShortfall, isShortfall, type Reservation } from "./budget-account.ts";

/**
 * Reserves the bytes of one call or put as they arrive, each before it is written or sent, so that concurrent ones
 * cannot overspend together. There is a single, growing reservation, so a stream of any length needs constant memory.
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

  /** Number of reserved bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Reserves more bytes; on a shortfall, returns it and reserves nothing. */
  add(bytes: number): BudgetShortfall | undefined {
    if (bytes === 0) return undefined;
    const wanted = this.#account.shortfall({ [this.#dimension]: bytes });
    if (wanted !== undefined) return wanted;
    // INVARIANT: no `await` between here and the new reservation, so the bytes just checked and those just freed are
    // still available.
    const total = this.#bytes + bytes;
    if (this.#reservation !== undefined) this.#account.settle(this.#reservation, {});
    const reservation = this.#account.reserve({ [this.#dimension]: total });
    this.#reservation = isShortfall(reservation) ? undefined : reservation;
    this.#bytes = total;
    return undefined;
  }

  /** Charges the bytes used and frees the rest. */
  settle(used: number): void {
    const reservation = this.#reservation;
    this.#reservation = undefined;
    this.#bytes = 0;
    if (reservation !== undefined) this.#account.settle(reservation, used === 0 ? {} : { [this.#dimension]: used });
  }
}
