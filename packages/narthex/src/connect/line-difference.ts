/** A line of a text before and after: kept, removed or added. */
export interface DifferentLine {
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

const CONTEXT = 2;
/** For longer texts, only the common beginning and end are matched. */
const MAX_CELLS = 4_000_000;

/** Returns the lines that differ, with a few lines of context. */
export function lineDifference(before: string, after: string): DifferentLine[] {
  const all = compare(splitLines(before), splitLines(after));
  const near = new Set<number>();
  for (const [at, { mark }] of all.entries()) {
    if (mark === " ") continue;
    for (let around = at - CONTEXT; around <= at + CONTEXT; around += 1) near.add(around);
  }
  return all.filter((_, at) => near.has(at));
}

export function countAdded(lines: readonly DifferentLine[]): { readonly added: number; readonly removed: number } {
  return {
    added: lines.filter(({ mark }) => mark === "+").length,
    removed: lines.filter(({ mark }) => mark === "-").length,
  };
}

function splitLines(text: string): string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
}

function compare(before: readonly string[], after: readonly string[]): DifferentLine[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const [old, fresh] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  return [
    ...before.slice(0, head).map((text) => ({ mark: " ", text }) as const),
    ...(old.length * fresh.length > MAX_CELLS ? replaced(old, fresh) : shortest(old, fresh)),
    ...before.slice(before.length - tail).map((text) => ({ mark: " ", text }) as const),
  ];
}

function replaced(old: readonly string[], fresh: readonly string[]): DifferentLine[] {
  return [...old.map((text) => ({ mark: "-", text }) as const), ...fresh.map((text) => ({ mark: "+", text }) as const)];
}

/** Compares by the longest common subsequence. */
function shortest(old: readonly string[], fresh: readonly string[]): DifferentLine[] {
  const width = fresh.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = fresh.length - 1; column >= 0; column -= 1) {
      const isSame = old[row] === fresh[column];
      const best = isSame ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
      common[row * width + column] = best;
    }
  }
  const lines: DifferentLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length && column < fresh.length) {
    if (old[row] === fresh[column]) {
      lines.push({ mark: " ", text: old[row] ?? "" });
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) {
      lines.push({ mark: "-", text: old[row] ?? "" });
      row += 1;
    } else {
      lines.push({ mark: "+", text: fresh[column] ?? "" });
      column += 1;
    }
  }
  return [...lines, ...replaced(old.slice(row), fresh.slice(column))];
}
