import { foldName } from "./path-text.ts";

/** Parts of a pattern such as `.github/workflows`; `*` matches any part of one name. */
export type NameRule = readonly string[];

/** A name that matches the first part of some rules. */
export interface MatchingName {
  readonly name: string;
  /** The remaining parts of each of these rules; empty for a rule that ends here. */
  readonly rests: readonly NameRule[];
}

/** Rules indexed by their first part, for matching many names of a directory against many rules. */
export class NameRules {
  readonly #exact = new Map<string, RuleRest[]>();
  readonly #patterns: (RuleRest & { readonly fits: RegExp })[] = [];

  constructor(rules: readonly NameRule[]) {
    for (const [place, [first = "", ...rest]] of rules.entries()) {
      if (first.includes("*")) {
        this.#patterns.push({ fits: namePattern(first), rest, place });
        continue;
      }
      const folded = foldName(first);
      const known = this.#exact.get(folded);
      if (known === undefined) this.#exact.set(folded, [{ rest, place }]);
      else known.push({ rest, place });
    }
  }

  /** Returns matches in the order of the rules. */
  match(names: readonly string[]): MatchingName[] {
    const found = names.flatMap((name) => {
      const folded = foldName(name);
      const fitting = [...(this.#exact.get(folded) ?? []), ...this.#patterns.filter(({ fits }) => fits.test(folded))];
      if (fitting.length === 0) return [];
      return [{ name, rests: fitting.map(({ rest }) => rest), place: Math.min(...fitting.map(({ place }) => place)) }];
    });
    return found.sort((one, other) => one.place - other.place);
  }
}

interface RuleRest {
  readonly rest: NameRule;
  /** Index of the rule. */
  readonly place: number;
}

function namePattern(part: string): RegExp {
  const text = foldName(part).replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${text.replaceAll("*", ".*")}$`, "su");
}
