export { readCount, readField, readList, readText } from "@narthex/contracts";

/** Converts arguments that arrived as a value to JSON text. */
export function toArgumentsJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}
