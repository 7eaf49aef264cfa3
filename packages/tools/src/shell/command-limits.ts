/** Maximum length of a command that is parsed, in UTF-16 units. The parser's time grows faster than its input. */
export const MAX_PARSED_COMMAND = 8192;
/** Maximum number of brackets, braces and backquotes in a command that is parsed. */
export const MAX_OPENINGS = 128;
/** Maximum nesting of commands in commands. */
export const MAX_COMMAND_DEPTH = 32;
export const MAX_PROGRAMS = 64;
export const MAX_ARGUMENTS = 256;
/** Maximum number of redirections, and of variables. */
export const MAX_REDIRECTIONS = 64;
/** Maximum nesting of programs that run programs. */
export const MAX_WRAPPERS = 4;
