/** Letters of other scripts that are drawn like Latin ones. A word made only of them looks like a Latin word. */
const LETTERS = new Set(
  [
    "АВЕЅЗІЈКМНОРСТУХҮԌԚԜаеѕіјӏорсухһԁԍԛԝүҽ", // Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορτυχικϲϳ", // Greek
    "ՍՏՕԼոսցօհզյք", // Armenian
    "ᎪᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᏔᏃᏀᏂ", // Cherokee
  ].join(""),
);

/** Signs that are drawn like the punctuation that commands, paths and addresses are made of. */
const SIGNS = new Set("‐‑‒–—―−⁃⁄∕∖⧵⧸‘’‛“”‟′″ʹʼˈǃ∣ǀ❘․‚‸∗∼˜ˋ´﹨٪⁎⁏։׃∶˸ꓽᱹ");

/** Latin letters that are no letters of any everyday alphabet: phonetic signs and the like. */
const ODD_LATIN = /[\u0131\u0237\u0250-\u02af\u1d00-\u1dbf\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f]/u;
const ASCII_LETTER = /[A-Za-z]/;
const LETTER = /\p{L}/u;
const LATIN = /\p{Script=Latin}/u;

/** A character that is not ASCII and stands for something that is: full-width signs, no-break spaces, styled letters. */
export function isDisguisedAscii(character: string): boolean {
  return SIGNS.has(character) || /^[\x20-\x7e]+$/.test(character.normalize("NFKC"));
}

/**
 * Which letters of a word are of another script than they seem: in a word with plain Latin letters every other letter
 * that is not Latin, or no everyday Latin; else all of them, if each looks like a Latin one.
 */
export function findForeignLetters(word: string): ReadonlySet<string> {
  const letters = Array.from(word).filter((character) => LETTER.test(character));
  if (ASCII_LETTER.test(word)) {
    return new Set(letters.filter((letter) => !LATIN.test(letter) || ODD_LATIN.test(letter)));
  }
  return new Set(letters.every((letter) => LETTERS.has(letter)) ? letters : []);
}
