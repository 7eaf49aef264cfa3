import type { DescMessage } from "@bufbuild/protobuf";
import { LENGTH_DELIMITED, splitFields } from "../wire/wire-fields.ts";

/**
 * Whether every field of encoded bytes is known, singular ones stand there once, and of each oneof one, at every level.
 * SPEC: docs/formats/wire.md, "Encoding". Protobuf itself lets all of that pass.
 */
export function isStrict(schema: DescMessage, bytes: Uint8Array): boolean {
  const seen = new Set<string>();
  return (
    splitFields(bytes)?.every(({ number, wireType, value }) => {
      const field = schema.fields.find((one) => one.number === number);
      if (field === undefined) return false;
      if (field.fieldKind !== "list") {
        const place = field.oneof === undefined ? `field ${number}` : `oneof ${field.oneof.name}`;
        if (seen.has(place)) return false;
        seen.add(place);
      }
      return field.message === undefined || (wireType === LENGTH_DELIMITED && isStrict(field.message, value));
    }) ?? false
  );
}
