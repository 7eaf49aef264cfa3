/**
 * What a screen or a reader would not show as a plain character: controls, format characters (bidi overrides and
 * isolates, joiners, tags), lone surrogates, private and unassigned code points, line separators, fillers.
 *
 * SECURITY: this is the one definition of what is hidden. The terminal and the console both make visible what it holds.
 */
export const INVISIBLE_CHARACTER =
  "[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]";
