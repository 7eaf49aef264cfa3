/**
 * Whether `@overrides` can name the id. An id with a comma, or with blanks at its ends, cannot be written in the list.
 */
export function canBeOverridden(id: string): boolean {
  return !id.includes(",") && id.trim() === id;
}

/** Formats the value of `@overrides`: one id, or several separated by commas. */
export function joinOverrides(ids: readonly string[]): string {
  return ids.join(", ");
}

/** Parses the value of `@overrides`. INVARIANT: the inverse of `joinOverrides` for ids that can be overridden. */
export function splitOverrides(value: string): string[] {
  return value
    .split(",")
    .map((id) => id.trim())
    .filter((id) => id !== "");
}
