import {
  PROBLEM_AREAS,
  PROBLEM_KINDS,
  type ProblemArea,
  type ProblemCode,
  type ProblemKind,
  type VerifyProblem,
} from "./problem.ts";

const MAX_PROBLEMS = 100;
const MAX_CHAIN_CHARACTERS = 256;

/** Keeps the problems of the lowest records, in their order; the rest are only counted. */
export class ProblemList {
  /** Number of all problems, including those not kept. */
  count = 0;
  readonly #kept: VerifyProblem[] = [];
  readonly #kinds = new Set<ProblemKind>();
  readonly #areas = new Set<ProblemArea>();

  add(code: ProblemCode, place: { readonly index: number; readonly chain: string }, message: string): void {
    const kind = PROBLEM_KINDS[code];
    this.count++;
    const area = PROBLEM_AREAS[code];
    this.#kinds.add(kind);
    this.#areas.add(area);
    const chain = place.chain.slice(0, MAX_CHAIN_CHARACTERS);
    const problem: VerifyProblem = { recordIndex: place.index, chain, kind, area, code, message };
    // Nearly always appended; only missing content found at the end belongs further up.
    let at = this.#kept.length;
    while (at > 0 && (this.#kept[at - 1]?.recordIndex ?? 0) > place.index) at--;
    this.#kept.splice(at, 0, problem);
    if (this.#kept.length > MAX_PROBLEMS) this.#kept.pop();
  }

  has(kind: ProblemKind): boolean {
    return this.#kinds.has(kind);
  }

  areas(): readonly ProblemArea[] {
    return [...this.#areas];
  }

  list(): readonly VerifyProblem[] {
    return [...this.#kept];
  }
}
