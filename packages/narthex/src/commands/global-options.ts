import type { OptionDescription } from "./command.ts";

/** Options of every command. */
export const GLOBAL_OPTIONS: readonly OptionDescription[] = [
  { flags: "--data <dir>", description: "the kernel's home (default: $NARTHEX_DATA, else ~/.narthex)" },
  { flags: "--json", description: "print JSON instead of text" },
];
