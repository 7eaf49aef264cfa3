import type { JsonValue } from "@narthex/contracts";
import type { Subschema } from "./schema-document.ts";

/** A keyword's value, if the subschema has it itself: `constructor` and the like are never found by inheritance. */
export function keywordOf(subschema: Subschema, keyword: string): JsonValue | undefined {
  const { keywords } = subschema;
  return typeof keywords !== "boolean" && Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
}
