/** One matching line. A type and not an interface: only types are assignable to JSON. */
export type SearchMatch = {
  /** Starts at 1. */
  readonly line: number;
  /** Starts at 1, in characters. */
  readonly column: number;
  readonly text: string;
  readonly before?: string[];
  readonly after?: string[];
};

export interface FileMatches {
  readonly path: string;
  /** Sort key of the path. */
  readonly order: string;
  /** Number of all matching lines of the file, even if `matches` has fewer. */
  readonly count: number;
  readonly matches: readonly SearchMatch[];
}

/** Collects the first matches in path order, whatever order they arrive in, without keeping all others. */
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

  /** Returns the matches in path order. */
  take(): readonly FileMatches[] {
    this.#prune();
    return this.#kept;
  }

  /** Drops files after the wanted number of matches. */
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
