/** One line that matches. A type and not an interface: only those are JSON. */
export type SearchMatch = {
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
  readonly text: string;
  readonly before?: string[];
  readonly after?: string[];
};

export interface FileMatches {
  readonly path: string;
  /** Paths are sorted by this. */
  readonly order: string;
  /** Of all its matching lines, though `matches` holds no more than may be told. */
  readonly count: number;
  readonly matches: readonly SearchMatch[];
}

/** The first matches in path order, whichever order they come in, without keeping all of the others. */
export class FirstMatches {
  files = 0;
  lines = 0;
  readonly #max: number;
  #kept: FileMatches[] = [];
  #keptLines = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(file: FileMatches): void {
    this.files++;
    this.lines += file.count;
    this.#kept.push(file);
    this.#keptLines += file.matches.length;
    if (this.#keptLines > 4 * this.#max) this.#prune();
  }

  /** In path order. */
  take(): readonly FileMatches[] {
    this.#prune();
    return this.#kept;
  }

  /** Lets go of files that are behind as many matches as are wanted. */
  #prune(): void {
    this.#kept.sort((left, right) => (left.order < right.order ? -1 : left.order > right.order ? 1 : 0));
    const kept: FileMatches[] = [];
    let lines = 0;
    for (const file of this.#kept) {
      if (lines >= this.#max) break;
      const matches = file.matches.slice(0, this.#max - lines);
      kept.push({ ...file, matches });
      lines += matches.length;
    }
    this.#kept = kept;
    this.#keptLines = lines;
  }
}
