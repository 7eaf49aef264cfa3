/**
 * Compiles a `like` pattern given as the texts between its wildcards: `a*b` is ["a", "b"], `*` is ["", ""]. Each text
 * is searched for once, from the end of the previous match, so the time is bounded by the product of the two lengths.
 */
export function compilePattern(pieces: readonly string[]): (text: string) => boolean {
  const [first = "", ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return (text) => text === first;
  if (others.length === 0 && last === "") return (text) => text.startsWith(first);
  if (others.length === 0 && first === "") return (text) => text.endsWith(last);
  const anchored = first.length + last.length;
  return (text) => {
    if (text.length < anchored || !text.startsWith(first) || !text.endsWith(last)) return false;
    const end = text.length - last.length;
    let from = first.length;
    for (const piece of others) {
      const found = text.indexOf(piece, from);
      if (found < 0 || found + piece.length > end) return false;
      from = found + piece.length;
    }
    return true;
  };
}
