/**
 * Compiles a glob pattern: `*` and `?` within a name, `[abc]`, `[!a-z]`, `**` for any number of directories, `{a,b}`. A
 * pattern without `/` is matched against the name alone. Matching takes at most time proportional to the product of
 * both lengths.
 */
export function createGlob(pattern: string): (path: string) => boolean {
  const alternatives = expandBraces(pattern).map((text) => text.split("/").map(parseSegment));
  return (path) => {
    const names = path.split("/").map((name) => Array.from(name));
    return alternatives.some((segments) =>
      matchSequence(segments.length === 1 ? names.slice(-1) : names, segments, isAnyDepth, matchName),
    );
  };
}

type Token = { readonly kind: "any" } | { readonly kind: "one"; fits(character: string): boolean };
type Segment = "any-depth" | readonly Token[];

const MAX_ALTERNATIVES = 256;
const ANY: Token = { kind: "any" };

const isAnyDepth = (segment: Segment): boolean => segment === "any-depth";
const isAny = (token: Token): boolean => token.kind === "any";

function matchName(name: readonly string[], segment: Segment): boolean {
  return segment !== "any-depth" && matchSequence(name, segment, isAny, fitsOne);
}

function fitsOne(character: string, token: Token): boolean {
  return token.kind === "one" && token.fits(character);
}

/** Greedy with limited backtracking: when the rest does not match, the last wildcard takes one more item. */
function matchSequence<Item, Pattern>(
  items: readonly Item[],
  patterns: readonly Pattern[],
  isWild: (pattern: Pattern) => boolean,
  fits: (item: Item, pattern: Pattern) => boolean,
): boolean {
  let [item, pattern, wild, taken] = [0, 0, -1, 0];
  while (item < items.length) {
    const current = patterns[pattern];
    const next = items[item];
    if (current !== undefined && isWild(current)) {
      wild = pattern++;
      taken = item;
    } else if (current !== undefined && next !== undefined && fits(next, current)) {
      item++;
      pattern++;
    } else if (wild >= 0) {
      pattern = wild + 1;
      item = ++taken;
    } else return false;
  }
  return patterns.slice(pattern).every(isWild);
}

function parseSegment(text: string): Segment {
  if (text === "**") return "any-depth";
  const characters = Array.from(text);
  const tokens: Token[] = [];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    if (character === "*") tokens.push(ANY);
    else if (character === "?") tokens.push({ kind: "one", fits: () => true });
    else if (character === "[") {
      const end = characters.indexOf("]", index + 2);
      tokens.push(end < 0 ? exactly("[") : parseSet(characters.slice(index + 1, end)));
      if (end >= 0) index = end;
    } else if (character === "\\") tokens.push(exactly(characters[++index] ?? "\\"));
    else tokens.push(exactly(character));
  }
  return tokens;
}

function exactly(expected: string): Token {
  return { kind: "one", fits: (character) => character === expected };
}

function parseSet(characters: readonly string[]): Token {
  const isNegated = characters[0] === "!" || characters[0] === "^";
  const members = isNegated ? characters.slice(1) : characters;
  const ranges: Array<readonly [string, string]> = [];
  for (let index = 0; index < members.length; index++) {
    const first = members[index] ?? "";
    const isRange = members[index + 1] === "-" && index + 2 < members.length;
    ranges.push([first, isRange ? (members[index + 2] ?? "") : first]);
    if (isRange) index += 2;
  }
  const has = (character: string): boolean => ranges.some(([from, to]) => from <= character && character <= to);
  return { kind: "one", fits: (character) => has(character) !== isNegated };
}

/**
 * Expands all alternatives of `{a,b}`. Unclosed braces are literal, and so is the whole pattern if there are too many
 * alternatives.
 */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  let open = [pattern];
  while (open.length > 0) {
    const next: string[] = [];
    for (const text of open) {
      const found = /^(.*)\{([^{}]*)\}(.*)$/su.exec(text);
      if (found === null) done.push(text);
      else for (const choice of (found[2] ?? "").split(",")) next.push(`${found[1]}${choice}${found[3]}`);
    }
    if (done.length + next.length > MAX_ALTERNATIVES) return [pattern];
    open = next;
  }
  return [...new Set(done)];
}
