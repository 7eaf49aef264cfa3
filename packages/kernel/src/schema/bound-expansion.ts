import { isJsonObject } from "@narthex/contracts";
import { escapePointer } from "./copy-schema.ts";
import { keywordOf } from "./keyword-of.ts";
import type { Problems } from "./problems.ts";
import type { References } from "./resolve-references.ts";
import type { SchemaDocument, Subschema } from "./schema-document.ts";
import { SCHEMA_LIMITS } from "./schema-limits.ts";

const BRANCH_LISTS = ["allOf", "anyOf", "oneOf"];
const BRANCHES = ["not", "if", "then", "else"];

/**
 * Rejects schemas that apply too many subschemas to one place of a value, and references that lead back to themselves
 * without descending into the value.
 *
 * SECURITY: sixty small subschemas that each refer twice to the next apply 2^30 times to one value. Recursion along the
 * value's depth depends on the value instead, and is bounded by the step limit of a check.
 */
export function boundExpansion(document: SchemaDocument, references: References, problems: Problems): void {
  const measure = new Measure(document, references, problems);
  for (const subschema of document.subschemas.values()) {
    if (problems.count > 0) return;
    const { size, depth } = measure.of(subschema);
    if (size > SCHEMA_LIMITS.expansion) {
      problems.add(
        subschema.location,
        "too_complex",
        `applies more than ${SCHEMA_LIMITS.expansion} subschemas at once`,
      );
    } else if (depth > SCHEMA_LIMITS.combinatorDepth) {
      problems.add(subschema.location, "too_complex", `nests more than ${SCHEMA_LIMITS.combinatorDepth} combinators`);
    }
  }
}

interface Extent {
  readonly size: number;
  readonly depth: number;
}

class Measure {
  readonly #document: SchemaDocument;
  readonly #references: References;
  readonly #problems: Problems;
  readonly #known = new Map<Subschema, Extent | "under way">();

  constructor(document: SchemaDocument, references: References, problems: Problems) {
    this.#document = document;
    this.#references = references;
    this.#problems = problems;
  }

  of(subschema: Subschema): Extent {
    const known = this.#known.get(subschema);
    if (known === "under way") {
      this.#problems.add(subschema.location, "reference", "refers to itself without descending into the value");
      return { size: 1, depth: 0 };
    }
    if (known !== undefined) return known;
    this.#known.set(subschema, "under way");
    const extent = this.#add(subschema);
    this.#known.set(subschema, extent);
    return extent;
  }

  #add(subschema: Subschema): Extent {
    let size = 1;
    let depth = 0;
    const target = this.#references.get(subschema.location);
    if (target !== undefined) {
      const extent = this.of(target);
      size += extent.size;
      depth = extent.depth;
    }
    for (const location of branchLocations(subschema)) {
      const branch = this.#document.subschemas.get(location);
      if (branch === undefined) continue;
      const extent = this.of(branch);
      size += extent.size;
      depth = Math.max(depth, extent.depth + 1);
    }
    return { size, depth };
  }
}

/** The subschemas that apply to the same value as this one. */
function* branchLocations(subschema: Subschema): Generator<string> {
  for (const keyword of BRANCH_LISTS) {
    const branches = keywordOf(subschema, keyword);
    if (!Array.isArray(branches)) continue;
    for (const index of branches.keys()) yield `${subschema.location}/${keyword}/${index}`;
  }
  for (const keyword of BRANCHES) {
    if (keywordOf(subschema, keyword) !== undefined) yield `${subschema.location}/${keyword}`;
  }
  const dependent = keywordOf(subschema, "dependentSchemas");
  if (dependent === undefined || !isJsonObject(dependent)) return;
  for (const key of Object.keys(dependent)) yield `${subschema.location}/dependentSchemas/${escapePointer(key)}`;
}
