/** Text as one cell of a Markdown table. */
export function tableCell(text: string): string {
  return inTable(text).replaceAll("<", "&lt;");
}

/** Text as code within a cell, where nothing but the cell's own border needs an escape. */
export function codeCell(text: string): string {
  return `\`${inTable(text)}\``;
}

function inTable(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");
}
