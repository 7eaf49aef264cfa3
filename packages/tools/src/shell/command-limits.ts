/** Longest command that is parsed, in UTF-16 units. The parser's time grows faster than its input. */
export const MAX_PARSED_COMMAND = 8192;
/** Most brackets, braces and backquotes of a command that is parsed. */
export const MAX_OPENINGS = 128;
/** Deepest nesting of commands in commands. */
export const MAX_COMMAND_DEPTH = 32;
export const MAX_PROGRAMS = 64;
export const MAX_ARGUMENTS = 256;
/** Most files and most variables. */
export const MAX_REDIRECTIONS = 64;
/** Programs that run programs that run programs. */
export const MAX_WRAPPERS = 4;
