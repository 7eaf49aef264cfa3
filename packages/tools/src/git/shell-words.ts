/** Quotes a word so that a shell reads it unchanged. */
export function quoted(word: string): string {
  return /^[\w./=:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function quotedAll(words: readonly string[]): string {
  return words.map(quoted).join(" ");
}
