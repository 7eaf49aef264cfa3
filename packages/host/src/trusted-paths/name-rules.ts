import { foldName } from "./path-text.ts";

/** The parts of a pattern such as `.github/workflows`; `*` stands for any part of one name. */
export type NameRule = readonly string[];

/** A name that fits the first part of some rules. */
export interface FittingName {
  readonly name: string;
  /** What is left of each of these rules; empty for a rule that ends here. */
  readonly rests: readonly NameRule[];
}

/** Rules by their first part, to compare a directory of many names with many rules. */
export class NameRules {
  readonly #exact = new Map<string, NameRule[]>();
  readonly #patterns: { readonly fits: RegExp; readonly rest: NameRule }[] = [];

  constructor(rules: readonly NameRule[]) {
    for (const [first = "", ...rest] of rules) {
      if (first.includes("*")) {
        this.#patterns.push({ fits: namePattern(first), rest });
        continue;
      }
      const folded = foldName(first);
      const known = this.#exact.get(folded);
      if (known === undefined) this.#exact.set(folded, [rest]);
      else known.push(rest);
    }
  }

  /** In the order of the names. */
  fitting(names: readonly string[]): FittingName[] {
    return names.flatMap((name) => {
      const folded = foldName(name);
      const rests = [...(this.#exact.get(folded) ?? [])];
      for (const { fits, rest } of this.#patterns) if (fits.test(folded)) rests.push(rest);
      return rests.length === 0 ? [] : [{ name, rests }];
    });
  }
}

function namePattern(part: string): RegExp {
  const text = foldName(part).replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${text.replaceAll("*", ".*")}$`, "su");
}
