/** Letters of other scripts that look like Latin ones. A word made only of them looks like a Latin word. */
const LETTERS = new Set(
  [
    "АВЕЅЗІЈКМНОРСТУХҮԌԚԜаеѕіјӏорсухһԁԍԛԝүҽ", // Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορτυχικϲϳ", // Greek
    "ՍՏՕԼոսցօհզյք", // Armenian
    "ᎪᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᏔᏃᏀᏂ", // Cherokee
  ].join(""),
);

/** Characters that look like the punctuation used in commands, paths and addresses. */
const SIGNS = new Set("‐‑‒–—―−⁃⁄∕∖⧵⧸‘’‛“”‟′″ʹʼˈǃ∣ǀ❘․‚‸∗∼˜ˋ´﹨٪⁎⁏։׃∶˸ꓽᱹ");

/** Latin letters outside any everyday alphabet, such as phonetic symbols. */
const ODD_LATIN = /[\u0131\u0237\u0250-\u02af\u1d00-\u1dbf\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f]/u;
const ASCII_LETTER = /[A-Za-z]/;
const LETTER = /\p{L}/u;
const LATIN = /\p{Script=Latin}/u;

/** Whether a non-ASCII character represents an ASCII one: full-width forms, no-break spaces, styled letters. */
export function isDisguisedAscii(character: string): boolean {
  return SIGNS.has(character) || /^[\x20-\x7e]+$/.test(character.normalize("NFKC"));
}

/**
 * Finds the letters of a word that look like letters of another script. In a word with ASCII letters: every letter that
 * is not an everyday Latin one. Otherwise: all letters, if every one looks like a Latin letter.
 */
export function findForeignLetters(word: string): ReadonlySet<string> {
  const letters = Array.from(word).filter((character) => LETTER.test(character));
  if (ASCII_LETTER.test(word)) {
    return new Set(letters.filter((letter) => !LATIN.test(letter) || ODD_LATIN.test(letter)));
  }
  return new Set(letters.every((letter) => LETTERS.has(letter)) ? letters : []);
}
