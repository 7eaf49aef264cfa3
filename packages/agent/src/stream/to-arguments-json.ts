export { readCount, readField, readList, readText } from "@narthex/contracts";

/** Arguments that came as a value, as the text they would have come as. */
export function toArgumentsJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}
