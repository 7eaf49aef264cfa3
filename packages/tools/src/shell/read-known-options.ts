import { type PlainOptions, type ReadOptions, readOptions } from "./plain-options.ts";
import { RUNNER_OPTIONS } from "./runner-options.ts";

/**
 * What a program that builds or tests was given; undefined for all others, and for what else such a program does.
 * `name` without its directories.
 */
export function readKnownOptions(name: string, args: readonly string[]): ReadOptions | undefined {
  const found = optionsFor(name, args);
  return found === undefined ? undefined : readOptions(args.slice(found.skip), found.plain);
}

interface FoundOptions {
  readonly plain: PlainOptions;
  /** How many of the arguments say what the program does. */
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
