/**
 * Matches characters that a screen does not show as plain characters: controls, format characters (bidi overrides and
 * isolates, joiners, tags), lone surrogates, private and unassigned code points, line separators, fillers.
 *
 * SECURITY: the only definition of hidden characters. Both the terminal and the console make them visible.
 */
export const INVISIBLE_CHARACTER =
  "[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]";
