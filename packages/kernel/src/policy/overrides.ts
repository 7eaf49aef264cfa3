/** An id that `@overrides` can name: neither a comma nor blanks at its ends, which would not survive the list. */
export function canBeOverridden(id: string): boolean {
  return !id.includes(",") && id.trim() === id;
}

/** The value of `@overrides`: one id, or several with commas between them. */
export function joinOverrides(ids: readonly string[]): string {
  return ids.join(", ");
}

/** INVARIANT: gives back what `joinOverrides` was given, for ids that can be overridden. */
export function splitOverrides(value: string): string[] {
  return value
    .split(",")
    .map((id) => id.trim())
    .filter((id) => id !== "");
}
