import { BUDGET_DIMENSIONS, type BudgetAmounts, type BudgetDimension, type BudgetLimits } from "@narthex/kernel";

const HIGHEST = 2n ** 53n - 1n;

/** What the account should say, in integers without an end. */
export class BudgetModel {
  readonly #limits: BudgetLimits;
  readonly #spent = new Map<BudgetDimension, bigint>();
  readonly #reserved = new Map<BudgetDimension, bigint>();

  constructor(limits: BudgetLimits, spent: BudgetAmounts) {
    this.#limits = limits;
    for (const dimension of BUDGET_DIMENSIONS) this.#spent.set(dimension, BigInt(spent[dimension] ?? 0));
  }

  /** What is set aside, or the first dimension in which too little is left. */
  reserve(amounts: BudgetAmounts, upTo: BudgetAmounts): BudgetAmounts | BudgetDimension {
    const asked = BUDGET_DIMENSIONS.map((dimension) => {
      const fixed = BigInt(amounts[dimension] ?? 0);
      return { dimension, fixed, most: fixed + BigInt(upTo[dimension] ?? 0), left: this.#left(dimension) };
    }).filter(({ most }) => most > 0n);
    const short = asked.find(({ fixed, left }) => left !== undefined && left < (fixed > 0n ? fixed : 1n));
    if (short !== undefined) return short.dimension;
    const taken = asked.map(({ dimension, most, left }) => {
      const amount = left === undefined || most < left ? most : left;
      return [dimension, Number(amount)] as const;
    });
    for (const [dimension, amount] of taken) this.#add(this.#reserved, dimension, BigInt(amount));
    return Object.fromEntries(taken);
  }

  settle(reserved: BudgetAmounts, actual: BudgetAmounts): void {
    for (const dimension of BUDGET_DIMENSIONS) {
      this.#add(this.#reserved, dimension, -BigInt(reserved[dimension] ?? 0));
      this.#add(this.#spent, dimension, BigInt(actual[dimension] ?? 0));
    }
  }

  restore(amounts: BudgetAmounts): void {
    for (const dimension of BUDGET_DIMENSIONS) this.#add(this.#reserved, dimension, BigInt(amounts[dimension] ?? 0));
  }

  spent(): BudgetAmounts {
    return collect((dimension) => noneIfZero(this.#spent.get(dimension)));
  }

  reserved(): BudgetAmounts {
    return collect((dimension) => noneIfZero(this.#reserved.get(dimension)));
  }

  remaining(): BudgetAmounts {
    return collect((dimension) => this.#left(dimension));
  }

  /** More is spent or set aside than there is. */
  overdrawn(dimension: BudgetDimension): boolean {
    const limit = this.#limits[dimension];
    return limit !== undefined && this.#taken(dimension) > BigInt(limit);
  }

  #left(dimension: BudgetDimension): bigint | undefined {
    const limit = this.#limits[dimension];
    if (limit === undefined) return undefined;
    const left = BigInt(limit) - this.#taken(dimension);
    return left > 0n ? left : 0n;
  }

  #taken(dimension: BudgetDimension): bigint {
    return (this.#spent.get(dimension) ?? 0n) + (this.#reserved.get(dimension) ?? 0n);
  }

  #add(amounts: Map<BudgetDimension, bigint>, dimension: BudgetDimension, amount: bigint): void {
    amounts.set(dimension, (amounts.get(dimension) ?? 0n) + amount);
  }
}

function noneIfZero(amount: bigint | undefined): bigint | undefined {
  return amount === 0n ? undefined : amount;
}

function collect(amountOf: (dimension: BudgetDimension) => bigint | undefined): BudgetAmounts {
  const amounts: { [D in BudgetDimension]?: number } = {};
  for (const dimension of BUDGET_DIMENSIONS) {
    const amount = amountOf(dimension);
    if (amount === undefined) continue;
    if (amount > HIGHEST) throw new RangeError("the model is used with amounts whose sums are exact");
    amounts[dimension] = Number(amount);
  }
  return amounts;
}
