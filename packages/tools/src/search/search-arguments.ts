import { BUNDLED_PATHS } from "@narthex/kernel";

export interface SearchInput {
  readonly pattern: string;
  readonly literal?: boolean | undefined;
  readonly case?: "sensitive" | "insensitive" | "smart" | undefined;
  readonly glob?: string | undefined;
  readonly context?: number | undefined;
  readonly hidden?: boolean | undefined;
  readonly ignored?: boolean | undefined;
}

const CASES = { sensitive: "--case-sensitive", insensitive: "--ignore-case", smart: "--smart-case" } as const;

/**
 * What ripgrep is told.
 *
 * SECURITY: nothing a caller says stands by itself: it is part of a word that begins with the option it belongs to, so
 * that it can never be an option.
 */
export function searchArguments(input: SearchInput, what: "directory" | "input"): string[] {
  return [
    "--json",
    ...common(input),
    CASES[input.case ?? "sensitive"],
    ...(input.literal === true ? ["--fixed-strings"] : []),
    ...(input.context !== undefined && input.context > 0 ? [`--context=${input.context}`] : []),
    ...(input.glob === undefined || what === "input" ? [] : [`--glob=${input.glob}`]),
    `--regexp=${input.pattern}`,
    "--",
    what === "input" ? "-" : "./",
  ];
}

/** One file after the other, and of each no more than may be told. */
export function orderedArguments(input: SearchInput, maxMatches: number): string[] {
  return ["--sort=path", `--max-count=${maxMatches}`, ...searchArguments(input, "directory")];
}

/** Lists the files that are searched if no glob is given: with one, ripgrep looks into ignored files too. */
export function listArguments(input: SearchInput): string[] {
  return ["--files", "--null", ...common(input), "--", "./"];
}

function common({ hidden, ignored }: SearchInput): string[] {
  return [
    "--no-config",
    "--no-require-git",
    // Nobody who asks for hidden files means what git keeps for itself.
    ...(hidden === true ? ["--hidden", "--glob=!.git"] : []),
    ...(ignored === true ? ["--no-ignore"] : []),
  ];
}

/**
 * Says where it really is, then becomes ripgrep.
 *
 * SECURITY: a directory that was looked at can be another one by the time a program comes there. The one it is in stays
 * the same from then on, ripgrep follows no links below it, and its real path is the first thing that is printed.
 */
export function withDirectoryCheck(options: readonly string[]): string[] {
  const script = `cd -P . && printf '%s\\0' "$PWD" && exec "$@"`;
  return ["/bin/sh", "-c", script, "sh", BUNDLED_PATHS.ripgrep, ...options];
}
