/**
 * Characters that a person who reviews a command does not see, or sees elsewhere: controls, format characters, white
 * space that no shell splits at, blank letters, private and unassigned ones, and unpaired surrogates.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u{2800}]/gu;

/**
 * The code point of the first hidden character, such as `U+200B`. Spaces, tabs and line ends do not count as hidden.
 */
export function findHiddenCharacter(text: string): string | undefined {
  if (/^[\t\n\u{20}-\u{7e}]*$/u.test(text)) return undefined;
  for (const [character] of text.matchAll(HIDDEN)) {
    if (character === " " || character === "\n" || character === "\t") continue;
    return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  }
  return undefined;
}
