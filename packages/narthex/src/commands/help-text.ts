import { countCharacters, wrapWords } from "../terminal/wrap-words.ts";

/** A command line and a comment on what it does. */
type CommentedCommand = readonly [command: string, comment: string];

const FIRST_COMMANDS: readonly CommentedCommand[] = [
  ["narthex serve --first-session", "a kernel and a session to try it with"],
  [`narthex call echo '{"text":"hello"}'`, "one tool call, from another terminal"],
  ["narthex watch", "every call as it happens"],
  ["narthex ledger verify", "nothing was changed or removed"],
];

const OWN_AGENT: readonly CommentedCommand[] = [
  ["narthex session open --workspace DIR", "a session; its token is kept for you"],
  ["narthex mcp --workspace DIR", "the same for any MCP client"],
];

const EXIT_CODES =
  "0 ok, 1 tool error, 2 usage, 3 denied, 4 invalid input, 5 kernel unavailable, 6 protected paths could not be put back, " +
  "10 replay or what-if differs, 20 ledger broken, 30 ledger unreadable. They stay the same if the reader of the output " +
  "leaves early, as `| head -1` does; commands that run until they are interrupted then end with 0.";

/** Text below the list of all commands. `width` is the width of the terminal. */
export function helpEpilogue(width: number | undefined): string {
  const label = "Exit codes: ";
  const room = Math.min(width ?? WIDE, WIDE) - label.length;
  const codes = wrapWords(EXIT_CODES, { width: room, longWords: "keep" });
  return [
    "",
    "Start here:",
    ...commentedLines(FIRST_COMMANDS, width),
    "",
    "For your own agent:",
    ...commentedLines(OWN_AGENT, width),
    "",
    ...codes.map((line, at) => `${at === 0 ? label : " ".repeat(label.length)}${line}`),
  ].join("\n");
}

/** Lines below the help of a command; long lines are continued with a backslash, as a shell accepts them. */
export function exampleLines(examples: readonly string[], width: number | undefined): string {
  const heading = examples.length === 1 ? "Example" : "Examples";
  const lines = examples.flatMap((example) => continuedLines(example, width));
  return `\n${heading}:\n${lines.join("\n")}`;
}

/** Maximum width of text, however wide the terminal is. */
const WIDE = 100;
const INDENT = 2;
/** Width of `$ ` before a command; continuation lines are indented by the same amount. */
const PROMPT = 2;
/** Width of ` \` at the end of a continued line. */
const CONTINUED = 2;

/** Puts each comment beside its command, or above it if the line would be too long. */
function commentedLines(commands: readonly CommentedCommand[], width: number | undefined): string[] {
  const widest = Math.max(...commands.map(([command]) => command.length));
  const lines = commands.map(([command, comment]) => `  $ ${command.padEnd(widest)}   # ${comment}`);
  if (width === undefined || lines.every((line) => line.length <= width)) return lines;
  return commands.flatMap(([command, comment]) => [`  # ${comment}`, ...continuedLines(command, width)]);
}

function continuedLines(command: string, width = Number.POSITIVE_INFINITY): string[] {
  const room = width - INDENT - PROMPT - CONTINUED;
  const lines: string[] = [];
  // A quoted string is one word, and an option is not separated from its value.
  for (const word of command.match(/(?:--[\w-]+ )?(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []) {
    const last = lines.at(-1);
    if (last === undefined || countCharacters(last) + 1 + countCharacters(word) > room) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  if (countCharacters(command) <= room + CONTINUED) return [`  $ ${command}`];
  return lines.map((line, at) => `  ${at === 0 ? "$ " : "    "}${line}${at === lines.length - 1 ? "" : " \\"}`);
}
