import { PROBLEM_KINDS, type ProblemCode, type ProblemKind, type VerifyProblem } from "./problem.ts";

const MAX_PROBLEMS = 100;
const MAX_CHAIN_CHARACTERS = 256;

/** The problems of the lowest records, in their order; the rest are only counted. */
export class ProblemList {
  /** All of them, also those not kept. */
  count = 0;
  readonly #kept: VerifyProblem[] = [];
  readonly #kinds = new Set<ProblemKind>();

  add(code: ProblemCode, place: { readonly index: number; readonly chain: string }, message: string): void {
    const kind = PROBLEM_KINDS[code];
    this.count++;
    this.#kinds.add(kind);
    const chain = place.chain.slice(0, MAX_CHAIN_CHARACTERS);
    const problem: VerifyProblem = { recordIndex: place.index, chain, kind, code, message };
    // Nearly always the last; content that is found missing at the end belongs further up.
    let at = this.#kept.length;
    while (at > 0 && (this.#kept[at - 1]?.recordIndex ?? 0) > place.index) at--;
    this.#kept.splice(at, 0, problem);
    if (this.#kept.length > MAX_PROBLEMS) this.#kept.pop();
  }

  has(kind: ProblemKind): boolean {
    return this.#kinds.has(kind);
  }

  list(): readonly VerifyProblem[] {
    return [...this.#kept];
  }
}
