import { type PlainOptions, type ReadOptions, readOptions } from "./plain-options.ts";
import { RUNNER_OPTIONS } from "./runner-options.ts";

/**
 * Parses the arguments of a known build or test program. Undefined for other programs, and for other uses of a known
 * one.
 * `name` is without its directories.
 */
export function readKnownOptions(name: string, args: readonly string[]): ReadOptions | undefined {
  const found = optionsFor(name, args);
  return found === undefined ? undefined : readOptions(args.slice(found.skip), found.plain);
}

interface FoundOptions {
  readonly plain: PlainOptions;
  /** The number of leading arguments that select the use. */
  readonly skip: number;
}

function optionsFor(name: string, args: readonly string[]): FoundOptions | undefined {
  const [first = "", second = ""] = args;
  if (/^(?:python|pypy)[\d.]*$/.test(name)) return first === "-m" ? found(second, 2) : undefined;
  return found(`${name} ${first}`, 1) ?? found(name, 0);
}

function found(use: string, skip: number): FoundOptions | undefined {
  const plain = RUNNER_OPTIONS.get(use);
  return plain === undefined ? undefined : { plain, skip };
}
