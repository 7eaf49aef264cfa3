import { KernelError, type Violation } from "@narthex/contracts";
import type { Node, SourceFile } from "ts-morph";

/** Collects the problems of sources, so that all are reported at once. */
export interface SourceProblems {
  /** Reports a problem of a whole file, by the name used in messages. */
  addFile(name: string, message: string): undefined;
  add(node: Node, message: string): undefined;
  addAt(source: SourceFile, position: number, message: string): undefined;
  readonly count: number;
  /** Throws INVALID_DECLARATION with a violation for each problem, in the order of their positions. */
  throwIfAny(): void;
}

interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** `names` maps paths to the names used in messages. */
export function createSourceProblems(names: ReadonlyMap<string, string>): SourceProblems {
  const order = [...names.values()];
  const problems: Problem[] = [];
  const note = (problem: Problem): undefined => {
    problems.push(problem);
    return undefined;
  };
  const addAt = (source: SourceFile, position: number, message: string): undefined => {
    const { line, column } = source.getLineAndColumnAtPos(position);
    return note({ file: names.get(source.getFilePath()) ?? source.getBaseName(), line, column, message });
  };
  return {
    addFile: (file, message) => note({ file, line: 1, column: 1, message }),
    add: (node, message) => addAt(node.getSourceFile(), node.getStart(), message),
    addAt,
    get count() {
      return problems.length;
    },
    throwIfAny() {
      if (problems.length === 0) return;
      const sorted = problems.toSorted(
        (one, other) =>
          order.indexOf(one.file) - order.indexOf(other.file) || one.line - other.line || one.column - other.column,
      );
      const count = `${sorted.length} problem${sorted.length === 1 ? "" : "s"}`;
      throw new KernelError("INVALID_DECLARATION", `${count}: nothing was generated`, {
        violations: sorted.map(toViolation),
      });
    },
  };
}

function toViolation({ file, line, column, message }: Problem): Violation {
  return { field: `${file}:${line}:${column}`, rule: "format", message };
}
