import { KernelError } from "@narthex/contracts";
import { BUDGET_DIMENSIONS, type BudgetAmounts, type BudgetDimension, type BudgetLimits } from "./budget.ts";

/**
 * The budget of one lease: its limits, and what is reserved and spent. All concurrent calls of the lease share one
 * account.
 */
export interface BudgetAccount {
  /**
   * Reserves all of `amounts`, and in each dimension of `upTo` as much as is left, up to that amount and at least 1.
   * Either everything is reserved or nothing.
   */
  reserve(amounts: BudgetAmounts, upTo?: BudgetAmounts): Reservation | BudgetShortfall;
  /** Returns the shortfall that `reserve` would return; reserves nothing. */
  shortfall(amounts: BudgetAmounts, upTo?: BudgetAmounts): BudgetShortfall | undefined;
  /** Reserves again what an unsettled intent had reserved before a restart, even if too little is left. */
  restore(amounts: BudgetAmounts): Reservation;
  /** Ends a reservation: charges `actual` and frees the rest. Amounts beyond the reservation are charged as well. */
  settle(reservation: Reservation, actual: BudgetAmounts): void;
  /** Amounts left, for each dimension with a limit. */
  remaining(): BudgetAmounts;
  /** Amounts spent, for each dimension with any. */
  spent(): BudgetAmounts;
  reserved(): BudgetAmounts;
}

/** A reservation. Only the account that made it accepts it, and only once. */
export interface Reservation {
  /** The reserved amounts, which are the limits of the call. */
  readonly amounts: BudgetAmounts;
}

/** The first dimension with too little left. */
export interface BudgetShortfall {
  readonly dimension: BudgetDimension;
  readonly asked: number;
  readonly remaining: number;
}

export interface BudgetAccountOptions {
  readonly limits: BudgetLimits;
  /** Amounts spent before this account object was created, such as before a restart. */
  readonly spent: BudgetAmounts;
}

export function isShortfall(answer: Reservation | BudgetShortfall): answer is BudgetShortfall {
  return "dimension" in answer;
}

export function createBudgetAccount(options: BudgetAccountOptions): BudgetAccount {
  return new Account(options);
}

/**
 * INVARIANT: in every limited dimension spent + reserved stays at or below the limit, in any order of calls, except for
 * amounts that tools report beyond their reservation and amounts reserved by `restore`.
 */
class Account implements BudgetAccount {
  readonly #limits: readonly number[];
  readonly #spent: number[];
  readonly #reserved: number[];

  constructor(options: BudgetAccountOptions) {
    this.#limits = limitList(options.limits);
    this.#spent = BUDGET_DIMENSIONS.map((dimension) => checkedAmount(options.spent, dimension));
    this.#reserved = BUDGET_DIMENSIONS.map(() => 0);
  }

  shortfall(amounts: BudgetAmounts, upTo: BudgetAmounts = NOTHING): BudgetShortfall | undefined {
    for (let index = 0; index < BUDGET_DIMENSIONS.length; index++) {
      const dimension = dimensionAt(index);
      const fixed = checkedAmount(amounts, dimension);
      const asked = addAmounts(fixed, checkedAmount(upTo, dimension));
      if (asked === 0) continue;
      const remaining = this.#remainingOf(index);
      if (remaining < Math.max(fixed, 1)) return { dimension, asked, remaining };
    }
    return undefined;
  }

  reserve(amounts: BudgetAmounts, upTo: BudgetAmounts = NOTHING): Reservation | BudgetShortfall {
    const shortfall = this.shortfall(amounts, upTo);
    if (shortfall !== undefined) return shortfall;
    return this.#setAside((dimension, index) =>
      Math.min(addAmounts(amounts[dimension] ?? 0, upTo[dimension] ?? 0), this.#remainingOf(index)),
    );
  }

  restore(amounts: BudgetAmounts): Reservation {
    checkAmounts(amounts);
    return this.#setAside((dimension) => amounts[dimension] ?? 0);
  }

  settle(reservation: Reservation, actual: BudgetAmounts): void {
    checkAmounts(actual);
    if (!OpenReservation.take(reservation, this)) {
      throw new KernelError("INTERNAL", "a budget reservation was settled twice, or by another account");
    }
    for (let index = 0; index < BUDGET_DIMENSIONS.length; index++) {
      const dimension = dimensionAt(index);
      this.#reserved[index] = at(this.#reserved, index) - (reservation.amounts[dimension] ?? 0);
      this.#spent[index] = addAmounts(at(this.#spent, index), actual[dimension] ?? 0);
    }
  }

  remaining(): BudgetAmounts {
    const isLimited = (index: number): boolean => at(this.#limits, index) !== Number.POSITIVE_INFINITY;
    return collect((index) => (isLimited(index) ? this.#remainingOf(index) : undefined));
  }

  spent(): BudgetAmounts {
    return collect((index) => at(this.#spent, index) || undefined);
  }

  reserved(): BudgetAmounts {
    return collect((index) => at(this.#reserved, index) || undefined);
  }

  #remainingOf(index: number): number {
    return Math.max(0, at(this.#limits, index) - addAmounts(at(this.#spent, index), at(this.#reserved, index)));
  }

  #setAside(askedOf: (dimension: BudgetDimension, index: number) => number): Reservation {
    const amounts: { [D in BudgetDimension]?: number } = {};
    for (let index = 0; index < BUDGET_DIMENSIONS.length; index++) {
      const dimension = dimensionAt(index);
      // Without a limit, reservations stop at the largest exact integer, so that their sum can return to zero.
      const amount = Math.min(askedOf(dimension, index), Number.MAX_SAFE_INTEGER - at(this.#reserved, index));
      if (amount === 0) continue;
      amounts[dimension] = amount;
      this.#reserved[index] = at(this.#reserved, index) + amount;
    }
    return new OpenReservation(this, Object.freeze(amounts));
  }
}

/** SECURITY: neither an object that only looks like a reservation nor one that was settled already is accepted. */
class OpenReservation implements Reservation {
  readonly amounts: BudgetAmounts;
  #account: Account | undefined;

  constructor(account: Account, amounts: BudgetAmounts) {
    this.#account = account;
    this.amounts = amounts;
  }

  /** Returns true once per reservation, and only for the account that made it. */
  static take(reservation: Reservation, account: Account): boolean {
    if (!(#account in reservation) || reservation.#account !== account) return false;
    reservation.#account = undefined;
    return true;
  }
}

const NOTHING: BudgetAmounts = Object.freeze({});

let lastLimits: readonly number[] | undefined;

/** Most accounts have the same limits, which never change, so they share one list. */
function limitList(limits: BudgetLimits): readonly number[] {
  const list = BUDGET_DIMENSIONS.map((dimension) => checkedLimit(limits, dimension));
  if (lastLimits === undefined || lastLimits.some((limit, index) => limit !== list[index])) lastLimits = list;
  return lastLimits;
}

function checkedLimit(limits: BudgetLimits, dimension: BudgetDimension): number {
  return limits[dimension] === undefined ? Number.POSITIVE_INFINITY : checkedAmount(limits, dimension);
}

/** SECURITY: a NaN or negative amount would make every later comparison pass, so it is an error. */
function checkedAmount(amounts: BudgetAmounts, dimension: BudgetDimension): number {
  const amount = amounts[dimension] ?? 0;
  if (Number.isSafeInteger(amount) && amount >= 0) return amount;
  throw new KernelError("INTERNAL", `a budget amount of ${dimension} is not a whole number from 0 to 2^53 - 1`);
}

function checkAmounts(amounts: BudgetAmounts): void {
  for (const dimension of BUDGET_DIMENSIONS) checkedAmount(amounts, dimension);
}

/** Adds, up to the largest exact integer, beyond which sums would lose units. */
function addAmounts(left: number, right: number): number {
  return Math.min(left + right, Number.MAX_SAFE_INTEGER);
}

function at(amounts: readonly number[], index: number): number {
  return amounts[index] ?? 0;
}

function dimensionAt(index: number): BudgetDimension {
  return BUDGET_DIMENSIONS[index] ?? "calls";
}

function collect(amountOf: (index: number) => number | undefined): BudgetAmounts {
  const amounts: { [D in BudgetDimension]?: number } = {};
  for (let index = 0; index < BUDGET_DIMENSIONS.length; index++) {
    const amount = amountOf(index);
    if (amount !== undefined) amounts[dimensionAt(index)] = amount;
  }
  return amounts;
}
