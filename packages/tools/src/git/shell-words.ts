/** A word of a command for a shell, which reads it back as it is. */
export function quoted(word: string): string {
  return /^[\w./=:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function quotedAll(words: readonly string[]): string {
  return words.map(quoted).join(" ");
}
