import { KernelError } from "@narthex/contracts";
import { type BudgetAccount, type BudgetShortfall, isShortfall, type Reservation } from "../budget/budget-account.ts";
import type { Spending } from "../tool/tool.ts";

type Amounts = Required<Spending>;

const NOTHING: Amounts = Object.freeze({ inference_tokens: 0, cost_units: 0 });

/**
 * What a call spends besides its price.
 *
 * INVARIANT: from the beginning of spending until the tool reports the amount, everything reserved counts as spent, so
 * that a call which is ended in between costs too much rather than nothing.
 */
export class CallSpending {
  readonly #account: BudgetAccount;
  /** Everything that was reserved. */
  #reserved: Amounts;
  /** The part that was reserved after the call began. */
  #more: Reservation[] = [];
  #spent: Amounts = NOTHING;

  /** `reserved` is what the call has reserved already. */
  constructor(account: BudgetAccount, reserved: Spending) {
    this.#account = account;
    this.#reserved = verifySpending(reserved);
  }

  /** Reserves more; on a shortfall, returns it and changes nothing. */
  begin(more: Spending): BudgetShortfall | undefined {
    const asked = verifySpending(more);
    const reservation = this.#account.reserve(asked);
    if (isShortfall(reservation)) return reservation;
    this.#more.push(reservation);
    this.#reserved = sumOf(this.#reserved, asked);
    this.#spent = this.#reserved;
    return undefined;
  }

  settle(spent: Spending): void {
    this.#spent = verifySpending(spent);
  }

  /** Frees what was reserved after the call began, and returns the amount to charge. */
  close(): Amounts {
    for (const reservation of this.#more) this.#account.settle(reservation, {});
    this.#more = [];
    return this.#spent;
  }
}

/**
 * SECURITY: amounts are reported by a tool. One that is not a whole number, or is below zero, would give budget back.
 */
export function verifySpending({ inference_tokens = 0, cost_units = 0 }: Spending): Amounts {
  for (const amount of [inference_tokens, cost_units]) {
    if (Number.isSafeInteger(amount) && amount >= 0) continue;
    throw new KernelError("INTERNAL", "the tool named an amount to spend that is no whole number from 0 to 2^53 - 1");
  }
  return { inference_tokens, cost_units };
}

/** Adds, up to the largest exact integer. */
export function sumOf(first: Amounts, second: Amounts): Amounts {
  const add = (left: number, right: number): number => Math.min(left + right, Number.MAX_SAFE_INTEGER);
  return {
    inference_tokens: add(first.inference_tokens, second.inference_tokens),
    cost_units: add(first.cost_units, second.cost_units),
  };
}
