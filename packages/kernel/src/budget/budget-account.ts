import { KernelError } from "@narthex/contracts";
import { BUDGET_DIMENSIONS, type BudgetAmounts, type BudgetDimension, type BudgetLimits } from "./budget.ts";

/** What one lease may spend and has spent. One account is shared by all of its concurrent calls. */
export interface BudgetAccount {
  /**
   * Sets aside all of `amounts`, and of each dimension in `upTo` as much of it as is left, but at least 1. Either
   * everything is reserved or nothing.
   */
  reserve(amounts: BudgetAmounts, upTo?: BudgetAmounts): Reservation | BudgetShortfall;
  /** What `reserve` would fall short of; takes nothing. */
  shortfall(amounts: BudgetAmounts, upTo?: BudgetAmounts): BudgetShortfall | undefined;
  /** Sets aside what an unsettled intent reserved before a restart, even where too little is left. */
  restore(amounts: BudgetAmounts): Reservation;
  /** Ends a reservation: `actual` is spent, the rest is free again. More than was reserved is spent all the same. */
  settle(reservation: Reservation, actual: BudgetAmounts): void;
  /** Of each dimension that has a limit. */
  remaining(): BudgetAmounts;
  /** Of each dimension in which anything was. */
  spent(): BudgetAmounts;
  reserved(): BudgetAmounts;
}

/** Worth something only to the account that made it, and only once. */
export interface Reservation {
  /** What was set aside; the call runs under it. */
  readonly amounts: BudgetAmounts;
}

/** The first dimension in which too little is left. */
export interface BudgetShortfall {
  readonly dimension: BudgetDimension;
  readonly asked: number;
  readonly remaining: number;
}

export interface BudgetAccountOptions {
  readonly limits: BudgetLimits;
  /** In earlier lives of the account. */
  readonly spent: BudgetAmounts;
}

export function isShortfall(answer: Reservation | BudgetShortfall): answer is BudgetShortfall {
  return "dimension" in answer;
}

export function createBudgetAccount(options: BudgetAccountOptions): BudgetAccount {
  return new Account(options);
}

/**
 * INVARIANT: in every limited dimension spent + reserved stays at or below the limit, whatever the order of calls,
 * except by what tools report beyond their reservation and what `restore` brings back.
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
      // Without a limit the sum of reservations stops where integers stop being exact, so that it returns to zero.
      const amount = Math.min(askedOf(dimension, index), Number.MAX_SAFE_INTEGER - at(this.#reserved, index));
      if (amount === 0) continue;
      amounts[dimension] = amount;
      this.#reserved[index] = at(this.#reserved, index) + amount;
    }
    return new OpenReservation(this, Object.freeze(amounts));
  }
}

/** SECURITY: an object that looks like a reservation is none, and one that was settled is none any more. */
class OpenReservation implements Reservation {
  readonly amounts: BudgetAmounts;
  #account: Account | undefined;

  constructor(account: Account, amounts: BudgetAmounts) {
    this.#account = account;
    this.amounts = amounts;
  }

  /** True once for each reservation, and for the account that made it only. */
  static take(reservation: Reservation, account: Account): boolean {
    if (!(#account in reservation) || reservation.#account !== account) return false;
    reservation.#account = undefined;
    return true;
  }
}

const NOTHING: BudgetAmounts = Object.freeze({});

let lastLimits: readonly number[] | undefined;

/** Most accounts have the same limits, which never change: their list is kept once. */
function limitList(limits: BudgetLimits): readonly number[] {
  const list = BUDGET_DIMENSIONS.map((dimension) => checkedLimit(limits, dimension));
  if (lastLimits === undefined || lastLimits.some((limit, index) => limit !== list[index])) lastLimits = list;
  return lastLimits;
}

function checkedLimit(limits: BudgetLimits, dimension: BudgetDimension): number {
  return limits[dimension] === undefined ? Number.POSITIVE_INFINITY : checkedAmount(limits, dimension);
}

/** SECURITY: one NaN or negative amount would make every later comparison pass; it is a fault, never a number. */
function checkedAmount(amounts: BudgetAmounts, dimension: BudgetDimension): number {
  const amount = amounts[dimension] ?? 0;
  if (Number.isSafeInteger(amount) && amount >= 0) return amount;
  throw new KernelError("INTERNAL", `a budget amount of ${dimension} is not a whole number from 0 to 2^53 - 1`);
}

function checkAmounts(amounts: BudgetAmounts): void {
  for (const dimension of BUDGET_DIMENSIONS) checkedAmount(amounts, dimension);
}

/** Stops at the highest exact integer, beyond which sums would lose units. */
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
