export { countOf, fieldOf, listOf, textOf } from "@narthex/contracts";

/** Arguments that came as a value, as the text they would have come as. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}
