import type { FirstMatches, SearchMatch } from "./first-matches.ts";

export interface SearchResultParts {
  readonly found: FirstMatches;
  /** Why the result is incomplete; undefined if it is complete. */
  readonly partial: string | undefined;
  /** The path as the caller wrote it. */
  readonly path: string;
  readonly isDirectory: boolean;
}

/** Schema of a search result. */
export const SEARCH_RESULT_SCHEMA = {
  type: "object",
  properties: {
    matches: {
      type: "array",
      items: {
        type: "object",
        properties: {
          path: { type: "string" },
          line: { type: "integer" },
          column: { type: "integer" },
          text: { type: "string" },
          before: { type: "array", items: { type: "string" } },
          after: { type: "array", items: { type: "string" } },
        },
        required: ["path", "line", "column", "text"],
      },
    },
    matching_lines: { type: "integer" },
    matching_files: { type: "integer" },
    partial: { type: "boolean" },
    reason: { type: ["string", "null"] },
  },
  required: ["matches", "matching_lines", "matching_files", "partial", "reason"],
} as const;

/** Converts the matches to a result whose paths other tools accept. */
export function toSearchResult({ found, partial, path, isDirectory }: SearchResultParts) {
  const matches = found
    .take()
    .flatMap((file) => file.matches.map((match) => toResultMatch(isDirectory ? below(path, file.path) : path, match)));
  const isCut = partial === undefined && matches.length < found.lines;
  const reason = isCut ? `these are the first ${matches.length} of ${found.lines} matching lines` : (partial ?? null);
  return {
    matches,
    matching_files: found.files,
    matching_lines: found.lines,
    partial: reason !== null,
    reason,
  };
}

function toResultMatch(path: string, { line, column, text, before, after }: SearchMatch) {
  return { path, line, column, text, ...(before !== undefined && after !== undefined && { before, after }) };
}

function below(directory: string, file: string): string {
  const base = directory.replace(/^(?:\.\/+)+/u, "").replace(/\/+(?:\.\/*)*$/u, "");
  return base === "." || base === "" ? file : `${base}/${file}`;
}
