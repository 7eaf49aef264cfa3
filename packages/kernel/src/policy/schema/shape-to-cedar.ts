import type { JsonObject } from "@narthex/contracts";
import type { CedarShape } from "./cedar-shape.ts";

const TYPES = { string: "String", long: "Long", bool: "Boolean" } as const;

/** Writes a shape as a type in Cedar's JSON schema form. */
export function shapeToCedar(shape: CedarShape): JsonObject {
  switch (shape.kind) {
    case "set":
      return { type: "Set", element: shapeToCedar(shape.element) };
    case "record":
      return {
        type: "Record",
        attributes: Object.fromEntries(
          shape.attributes.map(({ name, required, shape: inner }) => [name, { ...shapeToCedar(inner), required }]),
        ),
      };
    default:
      return { type: TYPES[shape.kind] };
  }
}
