const MAX_SHOWN = 64;

/** Appends one step to a JSON pointer (RFC 6901); a key too long to show is truncated. */
export function joinPointer(path: string, step: string | number): string {
  if (typeof step === "number") return `${path}/${step}`;
  return `${path}/${cutText(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Truncates untrusted text for a message of one line. */
export function cutText(text: string): string {
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return shown.toWellFormed().replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\ufffd");
}
