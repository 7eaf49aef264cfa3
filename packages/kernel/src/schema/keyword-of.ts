import type { JsonValue } from "@narthex/contracts";
import type { Subschema } from "./schema-document.ts";

/** A keyword's value, if it is the subschema's own property: `constructor` and the like are never inherited. */
export function keywordOf(subschema: Subschema, keyword: string): JsonValue | undefined {
  const { keywords } = subschema;
  return typeof keywords !== "boolean" && Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
}
