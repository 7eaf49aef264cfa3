/** Text as it is said in Markdown, white space made one. Only what would be read as something else is escaped; it may come in pieces. */
export function escapeText(text: string): string {
  return text
    .replaceAll(/[\t\n\f\r ]+/g, " ")
    .replaceAll(/[\\`*[\]]/g, String.raw`\$&`)
    .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, String.raw`\_`)
    .replaceAll(/<(?=[A-Za-z/!?]|$)/g, String.raw`\<`)
    .replaceAll(/~(?=~)/g, String.raw`\~`);
}

/** What is no beginning of a heading, a quote, a list, a rule or a fence stays none at the beginning of a block. */
export function escapeStart(block: string): string {
  return block
    .replaceAll(/^(?=#{1,6}(?:\s|$)|>|[-+](?:\s|$)|-{3,}\s*$|={3,}\s*$|~{3,})/gm, "\\")
    .replaceAll(/^(\d{1,9})(?=[.)](?:\s|$))/gm, "$1\\");
}

/** In a cell of a table. */
export function escapeCell(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ").replaceAll("|", String.raw`\|`);
}
