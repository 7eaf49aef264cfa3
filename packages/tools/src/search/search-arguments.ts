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
 * Arguments for ripgrep.
 *
 * SECURITY: the caller's values never stand alone: each is part of an argument that starts with its option, so that it
 * cannot be interpreted as an option.
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

/** Arguments to search one file after the other, with at most `maxMatches` matches from each. */
export function orderedArguments(input: SearchInput, maxMatches: number): string[] {
  return ["--sort=path", `--max-count=${maxMatches}`, ...searchArguments(input, "directory")];
}

/** Lists the files that are searched without a glob. With a glob, ripgrep searches ignored files too. */
export function listArguments(input: SearchInput): string[] {
  return ["--files", "--null", ...common(input), "--", "./"];
}

function common({ hidden, ignored }: SearchInput): string[] {
  return [
    "--no-config",
    "--no-require-git",
    // Searching hidden files should not include git's own files.
    ...(hidden === true ? ["--hidden", "--glob=!.git"] : []),
    ...(ignored === true ? ["--no-ignore"] : []),
  ];
}

/**
 * A command that prints its real working directory, then becomes ripgrep.
 *
 * SECURITY: a directory can be replaced between its check and the start of a program. The working directory of the
 * started process stays the same, ripgrep follows no links below it, and its real path is printed first for the caller
 * to verify.
 */
export function withDirectoryCheck(options: readonly string[]): string[] {
  const script = `cd -P . && printf '%s\\0' "$PWD" && exec "$@"`;
  return ["/bin/sh", "-c", script, "sh", BUNDLED_PATHS.ripgrep, ...options];
}
