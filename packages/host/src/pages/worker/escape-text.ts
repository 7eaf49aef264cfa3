/**
 * Escapes text for Markdown and collapses white space. Escapes only characters that Markdown would interpret. Text may
 * be escaped piece by piece.
 */
export function escapeText(text: string): string {
  return text
    .replaceAll(/[\t\n\f\r ]+/g, " ")
    .replaceAll(/[\\`*[\]]/g, String.raw`\$&`)
    .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, String.raw`\_`)
    .replaceAll(/<(?=[A-Za-z/!?]|$)/g, String.raw`\<`)
    .replaceAll(/~(?=~)/g, String.raw`\~`);
}

/** Escapes line starts of plain text that Markdown would read as a heading, quote, list, rule or fence. */
export function escapeStart(block: string): string {
  return block
    .replaceAll(/^(?=#{1,6}(?:\s|$)|>|[-+](?:\s|$)|-{3,}\s*$|={3,}\s*$|~{3,})/gm, "\\")
    .replaceAll(/^(\d{1,9})(?=[.)](?:\s|$))/gm, "$1\\");
}

/** Escapes text for a table cell. */
export function escapeCell(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ").replaceAll("|", String.raw`\|`);
}
