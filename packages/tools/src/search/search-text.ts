import type { ViewPart } from "@narthex/kernel";
import { longText, plainName } from "../files/file-texts.ts";

export interface SearchResult {
  readonly matches: readonly ResultMatch[];
  readonly reason: string | null;
}

interface ResultMatch {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
  readonly before?: readonly string[] | undefined;
  readonly after?: readonly string[] | undefined;
}

/** Formats matches as search programs do: `path:line:column: text`, context lines with dashes. */
export function searchText({ matches, reason }: SearchResult): ViewPart[] {
  const note = reason === null ? [] : [`[${reason}]`];
  if (matches.length === 0) return ["no matches", ...note];
  return [longText(matches.flatMap(matchLines).join("\n")), ...note];
}

function matchLines({ path, line, column, text, before = [], after = [] }: ResultMatch, index: number): string[] {
  const name = plainName(path);
  const around = (lines: readonly string[], first: number): string[] =>
    lines.map((context, at) => `${name}-${first + at}- ${context}`);
  const hasContext = before.length + after.length > 0;
  return [
    ...(hasContext && index > 0 ? ["--"] : []),
    ...around(before, line - before.length),
    `${name}:${line}:${column}: ${text}`,
    ...around(after, line + 1),
  ];
}
