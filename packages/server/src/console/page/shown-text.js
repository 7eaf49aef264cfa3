import { element } from "./element.js";

/** Names of code points that are used to deceive readers. */
const NAMES = new Map([
  ["U+0000", "null"],
  ["U+0007", "bell"],
  ["U+0008", "backspace"],
  ["U+0009", "tab"],
  ["U+000A", "line feed"],
  ["U+000D", "carriage return"],
  ["U+0020", "space"],
  ["U+001B", "escape"],
  ["U+00A0", "no-break space"],
  ["U+00AD", "soft hyphen"],
  ["U+200B", "zero-width space"],
  ["U+200C", "zero-width non-joiner"],
  ["U+200D", "zero-width joiner"],
  ["U+200E", "left-to-right mark"],
  ["U+200F", "right-to-left mark"],
  ["U+202A", "left-to-right embedding"],
  ["U+202B", "right-to-left embedding"],
  ["U+202C", "pop directional formatting"],
  ["U+202D", "left-to-right override"],
  ["U+202E", "right-to-left override"],
  ["U+2060", "word joiner"],
  ["U+2066", "left-to-right isolate"],
  ["U+2067", "right-to-left isolate"],
  ["U+2068", "first strong isolate"],
  ["U+2069", "pop directional isolate"],
  ["U+FEFF", "byte order mark"],
]);

/** Converts a text from the kernel to nodes: marked characters stand out, with their code point. */
export function showText(shown) {
  if (typeof shown === "string") return [element("bdi", {}, shown)];
  return [element("bdi", {}, ...shown.flatMap((part) => (typeof part === "string" ? [part] : showMark(part))))];
}

/** Converts it to one plain string with the marks spelled out, for filters and screen readers. */
export function plainText(shown) {
  if (typeof shown === "string") return shown;
  return shown.map((part) => (typeof part === "string" ? part : `[${codeOf(part)}]`)).join("");
}

/** Counts the marked characters of each kind. */
export function countMarks(shown) {
  const counts = { hidden: 0, blank: 0, lookalike: 0 };
  if (typeof shown === "string") return counts;
  for (const part of shown) if (typeof part !== "string") counts[part.kind] += part.count;
  return counts;
}

function showMark(mark) {
  const title = `${codeOf(mark)} ${NAMES.get(mark.codePoint) ?? mark.kind}`;
  const seen = mark.kind === "lookalike" ? [mark.character.repeat(Math.min(mark.count, 3))] : [];
  const made = element("mark", { class: mark.kind, title }, ...seen, element("span", { class: "code" }, codeOf(mark)));
  // Lines that were counted instead of shown still end with a line break.
  return mark.character === "\n" ? [made, "\n"] : [made];
}

function codeOf({ codePoint, count }) {
  return count === 1 ? codePoint : `${codePoint} ×${count}`;
}
