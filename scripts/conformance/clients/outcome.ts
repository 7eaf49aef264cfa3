/** The result of one check of a client. */
export type Outcome =
  | { readonly kind: "pass"; readonly note?: string }
  | { readonly kind: "fail"; readonly reason: string }
  /** The client cannot do it, whatever narthex does. */
  | { readonly kind: "unsupported"; readonly reason: string };

/** A failed check, with a reason of one line. */
export class CheckFailure extends Error {}

export function expect(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new CheckFailure(reason);
}

/** The beginning of a text on one line, for use in a reason. */
export function excerpt(text: string, length = 160): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length)}…` : line;
}
