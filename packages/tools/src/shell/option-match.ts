/** A test of a program's arguments. */
export type ArgumentsTest = (args: readonly string[]) => boolean;

export interface OptionNames {
  /** Short options by their letters: matched alone, joined (`-xo`) and with a value attached (`-oFILE`). */
  readonly letters?: string;
  /** Long options by their full names, separated by blanks. */
  readonly long?: string;
  /** Any other form of argument. */
  readonly pattern?: RegExp;
}

/**
 * Creates a test for whether any argument is one of these options.
 *
 * SECURITY: GNU programs, git and others accept every unambiguous abbreviation of a long option, so any prefix of a
 * listed name matches (`--t=DIR` for `--temporary-directory`), with `=VALUE` or without. Which prefixes are ambiguous
 * depends on the program's version, so all of them match. Names that begin with a listed one match too
 * (`--trace-ascii`).
 */
export function hasOption({ letters, long = "", pattern }: OptionNames): ArgumentsTest {
  const names = long.split(/\s+/).filter((name) => name !== "");
  const short = letters === undefined ? undefined : new RegExp(`^-[^-]*[${letters}]`);
  const isListed = (arg: string): boolean => {
    if (short?.test(arg) === true || pattern?.test(arg) === true) return true;
    const [, given = ""] = /^--([^=]+)/.exec(arg) ?? [];
    return given !== "" && names.some((name) => name.startsWith(given) || given.startsWith(name));
  };
  return (args) => args.some(isListed);
}
