/** How a check of a client came out. */
export type Outcome =
  | { readonly kind: "pass"; readonly note?: string }
  | { readonly kind: "fail"; readonly reason: string }
  /** The client cannot do it, whatever narthex does. */
  | { readonly kind: "unsupported"; readonly reason: string };

/** A check that failed, with a reason of one line. */
export class CheckFailure extends Error {}

export function expect(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new CheckFailure(reason);
}

/** The start of a text for a reason: one line, cut. */
export function excerpt(text: string, length = 160): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length)}…` : line;
}
