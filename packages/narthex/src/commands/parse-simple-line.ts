import type { Command, CommandEntry, CommandLeaf, OptionDescription } from "./command.ts";
import { GLOBAL_OPTIONS } from "./global-options.ts";

/** A command line that has only one possible reading. */
export interface SimpleLine {
  readonly command: Command;
  readonly words: readonly string[];
  /** Values under the names that the parser gives them. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Parses a command line that is spelled out plainly: a command, its words, whole options each followed by its value.
 * Returns undefined for everything else, valid or not, and leaves it to the full parser, which takes longer to load
 * than a call takes.
 */
export async function parseSimpleLine(
  argv: readonly string[],
  tree: readonly CommandEntry[],
): Promise<SimpleLine | undefined> {
  const named = findLeaf(argv, tree);
  if (named === undefined) return undefined;
  const command = await named.leaf.load();
  const options = [...GLOBAL_OPTIONS, ...(command.options ?? [])];
  const words: string[] = [];
  const values: Record<string, unknown> = {};
  for (let at = named.depth; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (!word.startsWith("-")) {
      words.push(word);
      continue;
    }
    const option = options.find(({ flags }) => flags.split(" ")[0] === word);
    if (option === undefined || !isSimple(option)) return undefined;
    const key = camelCase(word.slice(2));
    if (key in values) return undefined;
    if (!option.flags.includes("<")) {
      values[key] = true;
      continue;
    }
    at += 1;
    const value = argv[at];
    if (value === undefined || value.startsWith("-")) return undefined;
    values[key] = value;
  }
  return takesWords(command, words.length) ? { command, words, values } : undefined;
}

function findLeaf(
  argv: readonly string[],
  tree: readonly CommandEntry[],
): { readonly leaf: CommandLeaf; readonly depth: number } | undefined {
  const entry = tree.find(({ name }) => name === argv[0]);
  if (entry === undefined) return undefined;
  if (!("commands" in entry)) return { leaf: entry, depth: 1 };
  const leaf = entry.commands.find(({ name }) => name === argv[1]);
  return leaf && { leaf, depth: 2 };
}

/** Whether the option is `--flag` or `--name <value>` and not repeatable. */
function isSimple({ flags, repeatable }: OptionDescription): boolean {
  return repeatable !== true && /^--[a-z-]+(?: <[^>.]+>)?$/.test(flags) && !flags.startsWith("--no-");
}

function takesWords({ arguments: taken = [] }: Command, count: number): boolean {
  if (taken.some(({ name }) => name.includes("..."))) return false;
  return count >= taken.filter(({ name }) => name.startsWith("<")).length && count <= taken.length;
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
