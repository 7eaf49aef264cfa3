import type { Command, CommandEntry, CommandLeaf } from "../../packages/narthex/src/commands/command.ts";
import { COMMAND_TREE } from "../../packages/narthex/src/commands/command-tree.ts";
import { GLOBAL_OPTIONS } from "../../packages/narthex/src/commands/global-options.ts";
import { codeCell, tableCell } from "./table-cell.ts";

const INTRODUCTION = `# Command line

Every command of \`narthex\`, as \`narthex COMMAND --help\` prints it. This page is generated from the sources
(\`npm run reference\`). Exit codes: 0 ok, 1 tool error, 2 usage, 3 denied, 4 invalid input, 5 kernel unavailable, 6 protected
paths could not be restored, 10 a replay or what-if differs, 20 ledger broken, 30 ledger unreadable.
`;

/** The reference of the command line, from the table that the command itself runs on. */
export async function writeCommandLinePage(): Promise<string> {
  const sections = await Promise.all(COMMAND_TREE.flatMap((entry) => listLeaves(entry, "")).map(describe));
  const index = COMMAND_TREE.map(
    ({ name, summary }) => `| [\`${name}\`](#${anchorOf(name)}) | ${tableCell(summary)} |`,
  );
  const options = GLOBAL_OPTIONS.map(({ flags, description }) => `| ${codeCell(flags)} | ${tableCell(description)} |`);
  return [
    INTRODUCTION,
    `Options of every command:\n\n| option | meaning |\n|---|---|\n${options.join("\n")}\n`,
    `| command | meaning |\n|---|---|\n${index.join("\n")}\n`,
    ...sections,
  ].join("\n");
}

interface NamedLeaf {
  readonly words: string;
  readonly leaf: CommandLeaf;
}

function listLeaves(entry: CommandEntry, prefix: string): NamedLeaf[] {
  const words = `${prefix}${entry.name}`;
  if (!("commands" in entry)) return [{ words, leaf: entry }];
  const own = entry.defaultCommand === undefined ? [] : [{ words, leaf: entry.defaultCommand }];
  return [...own, ...entry.commands.map((leaf) => ({ words: `${words} ${leaf.name}`, leaf }))];
}

/** Groups without a command of their own are listed under the heading of their first one. */
function anchorOf(name: string): string {
  const entry = COMMAND_TREE.find((found) => found.name === name);
  const [first] = entry === undefined ? [] : listLeaves(entry, "");
  return (first?.words ?? name).replaceAll(" ", "-");
}

async function describe({ words, leaf }: NamedLeaf): Promise<string> {
  const command = await leaf.load();
  const names = (command.arguments ?? []).map(({ name }) => ` ${name}`).join("");
  return [
    `## ${words}\n`,
    `\`narthex ${words}${names}\`: ${leaf.summary}.\n`,
    ...(command.details === undefined ? [] : [`${command.details}\n`]),
    ...listInputs(command),
    `\`\`\`\n${command.examples.join("\n")}\n\`\`\`\n`,
  ].join("\n");
}

function listInputs(command: Command): string[] {
  const rows = [
    ...(command.arguments ?? []).map(({ name, description }) => [name, description] as const),
    ...(command.options ?? []).map(({ flags, description, repeatable }) => {
      return [flags, repeatable === true ? `${description}; can be given several times` : description] as const;
    }),
  ];
  if (rows.length === 0) return [];
  const lines = rows.map(([name, description]) => `| ${codeCell(name)} | ${tableCell(description)} |`);
  return [`| | |\n|---|---|\n${lines.join("\n")}\n`];
}
