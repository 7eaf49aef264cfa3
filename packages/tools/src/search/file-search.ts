import { isKernelError, KernelError } from "@narthex/contracts";
import { BUNDLED_PATHS, defineTool, type ProgramResult, type ToolContext } from "@narthex/kernel";
import { pathSchema } from "../files/path-schema.ts";
import { absolutePath, workspacePath } from "../files/workspace-path.ts";
import { FirstMatches } from "./first-matches.ts";
import { VerifiedDirectoryOutput } from "./verified-directory-output.ts";
import {
  withDirectoryCheck,
  listArguments,
  orderedArguments,
  type SearchInput,
  searchArguments,
} from "./search-arguments.ts";
import { SearchOutput } from "./search-output.ts";
import { searchText } from "./search-text.ts";
import { SEARCH_RESULT_SCHEMA, toSearchResult } from "./search-result.ts";

const MAX_MATCHES = 10_000;
const DEFAULT_MATCHES = 200;
const MAX_CONTEXT = 20;
const TIMEOUT_MS = 120_000;
/** The search's own timeout ends first, so that partial results are reported. */
const GRACE_MS = 10_000;
/** Limit for ripgrep's output. A search that exceeds it is repeated in path order, up to the first matches. */
const MAX_PRINTED_BYTES = 64 * 1024 * 1024;

/** Searches the contents of files with ripgrep. */
export const fileSearch = defineTool({
  name: "file_search",
  description:
    "Searches file contents for a regular expression or a literal text; answers matching lines in path order. Skips " +
    "binary files, and hidden and git-ignored ones by default.",
  source: "builtin",
  isolation: "process",
  inputSchema: {
    type: "object",
    properties: {
      pattern: { type: "string", minLength: 1, maxLength: 4096, description: "Regular expression, Rust syntax." },
      path: pathSchema("Directory or file; default: the working directory."),
      literal: { type: "boolean", description: "The pattern is literal text." },
      case: { enum: ["sensitive", "insensitive", "smart"], description: "Default: sensitive." },
      glob: {
        type: "string",
        minLength: 1,
        maxLength: 1000,
        description: "Such as `*.ts`; with `!` in front, all others.",
      },
      context: { type: "integer", minimum: 0, maximum: MAX_CONTEXT, description: "Lines around each match." },
      max_matches: {
        type: "integer",
        minimum: 1,
        maximum: MAX_MATCHES,
        description: "Maximum number of matching lines.",
      },
      hidden: { type: "boolean", description: "Include dot files." },
      ignored: { type: "boolean", description: "Include git-ignored files." },
    },
    required: ["pattern"],
    additionalProperties: false,
  },
  outputSchema: SEARCH_RESULT_SCHEMA,
  resultType: "object",
  effects: ["fs_read"],
  determinism: "deterministic",
  tier: "read_only",
  capabilities: [{ kind: "fs_read", prefixes: [] }],
  bounds: { timeoutMs: TIMEOUT_MS, maxOutputBytes: 32_768 },
  needs: (input, session) => [{ kind: "fs_read", prefixes: [absolutePath(input.path ?? ".", session)] }],
  textView: searchText,
  async run(input, context) {
    refuseNul(input.pattern, "pattern");
    refuseNul(input.glob ?? "", "glob");
    const named = workspacePath(input.path ?? ".", context.session);
    const max = input.max_matches ?? DEFAULT_MATCHES;
    const directory = await locate(named, context);
    const search =
      directory === undefined
        ? searchFile(input, named, max, context)
        : searchDirectory(input, directory, max, context);
    const { found, partial } = await search;
    return toSearchResult({ found, partial, path: input.path ?? ".", isDirectory: directory !== undefined });
  },
});

interface SearchOutcome {
  readonly found: FirstMatches;
  /** Why the result is incomplete; undefined if it is complete. */
  readonly partial: string | undefined;
}

/** The real directory; undefined for a file. */
async function locate(named: string, { files }: ToolContext): Promise<string | undefined> {
  try {
    return await files.locateDirectory(named);
  } catch (fault) {
    if (isKernelError(fault) && fault.code === "NOT_A_DIRECTORY") return undefined;
    throw fault;
  }
}

async function searchDirectory(
  input: SearchInput,
  directory: string,
  max: number,
  context: ToolContext,
): Promise<SearchOutcome> {
  const counts = await listSearchableFiles(input, directory, context);
  // SECURITY: the match counts alone reveal that a secret contains the pattern, so every counted file is recorded as
  // read.
  const { files } = context;
  const isWanted = (file: string): boolean => {
    if (!counts(file)) return false;
    files.noteReading(directory === "." ? file : `${directory}/${file}`);
    return true;
  };
  const found = new FirstMatches(max);
  const output = new SearchOutput({ context: input.context ?? 0, maxMatches: max, found, isWanted });
  const result = await runInDirectory(
    directory,
    searchArguments(input, "directory"),
    (chunk) => output.take(chunk),
    context,
  );
  if (result.exceeded?.limit !== "output") return { found, partial: endOf(result, output) };
  return await searchInOrder(input, directory, max, isWanted, context);
}

/** Searches one file after the other, up to the first matches, because the whole output is too large. */
async function searchInOrder(
  input: SearchInput,
  directory: string,
  max: number,
  isWanted: (path: string) => boolean,
  context: ToolContext,
): Promise<SearchOutcome> {
  const found = new FirstMatches(max);
  const output = new SearchOutput({ context: input.context ?? 0, maxMatches: max, found, isWanted });
  const enough = new KernelError("CANCELLED", "enough was found");
  const take = (chunk: Uint8Array): void => {
    output.take(chunk);
    if (found.lines >= max) throw enough;
  };
  try {
    const result = await runInDirectory(directory, orderedArguments(input, max), take, context);
    return { found, partial: endOf(result, output) };
  } catch (fault) {
    if (fault !== enough) throw fault;
    return { found, partial: "there are too many matches to count; only the first are told" };
  }
}

/** The file worker opens the file while it resolves the path, and ripgrep gets the content as input. */
async function searchFile(
  input: SearchInput,
  named: string,
  max: number,
  context: ToolContext,
): Promise<SearchOutcome> {
  const answer = await context.files.run({ kind: "read", path: named, offset: 0, limit: 0 });
  if (answer.kind !== "read") throw new KernelError("INTERNAL", "a reading was not answered by what was read");
  const found = new FirstMatches(max);
  const output = new SearchOutput({ context: input.context ?? 0, maxMatches: max, found, isWanted: () => true });
  const remarks = new Remarks();
  const result = await context.programs.run({
    ...PROGRAM,
    command: [BUNDLED_PATHS.ripgrep, ...searchArguments(input, "input")],
    workingDirectory: ".",
    access: "none",
    input: answer.content,
    onPrinted: (stream, chunk) => (stream === "stdout" ? output.take(chunk) : remarks.take(chunk)),
  });
  return { found, partial: endOf({ ...result, remarks: remarks.text() }, output) };
}

async function listSearchableFiles(
  input: SearchInput,
  directory: string,
  context: ToolContext,
): Promise<(path: string) => boolean> {
  const { glob, hidden, ignored } = input;
  // An exclude glob adds no ignored files to the search.
  if (glob === undefined || glob.startsWith("!") || (hidden === true && ignored === true)) return () => true;
  const chunks: Uint8Array[] = [];
  const take = (chunk: Uint8Array): void => void chunks.push(Buffer.from(chunk));
  const result = await runInDirectory(directory, listArguments(input), take, context);
  if (result.exceeded !== undefined) {
    throw new KernelError(
      "RESOURCE_EXCEEDED",
      "there are too many files to search with a glob; name a directory as the path",
    );
  }
  const names = Buffer.concat(chunks).toString().split("\0");
  const wanted = new Set(names.map((name) => name.replace(/^\.\//u, "")));
  return (file) => wanted.has(file);
}

interface SearchEnd extends Pick<ProgramResult, "exitCode" | "exceeded"> {
  readonly remarks: string;
}

async function runInDirectory(
  directory: string,
  options: readonly string[],
  take: (chunk: Uint8Array) => void,
  { programs }: ToolContext,
): Promise<SearchEnd> {
  const place = new VerifiedDirectoryOutput(directory, take);
  const remarks = new Remarks();
  const result = await programs.run({
    ...PROGRAM,
    command: withDirectoryCheck(options),
    workingDirectory: directory,
    access: "read",
    onPrinted: (stream, chunk) => (stream === "stdout" ? place.take(chunk) : remarks.take(chunk)),
  });
  return { ...result, remarks: remarks.text() };
}

/** The beginning of ripgrep's error messages. */
class Remarks {
  #bytes = Buffer.alloc(0);

  take(chunk: Uint8Array): void {
    if (this.#bytes.length < MAX_REMARK_BYTES) this.#bytes = Buffer.concat([this.#bytes, chunk]);
  }

  text(): string {
    return this.#bytes.subarray(0, MAX_REMARK_BYTES).toString().trim();
  }
}

const MAX_REMARK_BYTES = 2000;

const PROGRAM = {
  bundled: ["ripgrep"],
  kept: [],
  isShown: false,
  timeoutMs: TIMEOUT_MS - GRACE_MS,
  maxOutputBytes: MAX_PRINTED_BYTES,
} as const;

/** Why the search is incomplete; undefined if it is complete. Throws if nothing was searched. */
function endOf({ exitCode, exceeded, remarks }: SearchEnd, output: SearchOutput): string | undefined {
  if (exceeded !== undefined) return `the search was stopped: ${exceeded.limit}`;
  if (exitCode === 0 || exitCode === 1) return undefined;
  if (exitCode === 2 && output.isComplete) return `some files could not be read: ${remarks}`;
  if (exitCode === 2) throw badPattern(remarks);
  throw new KernelError("EXECUTION_FAILED", `ripgrep ended with ${exitCode}: ${remarks.slice(0, 500)}`);
}

function badPattern(said: string): KernelError {
  const message = said.replace(/^rg: /u, "").slice(0, 1000) || "ripgrep does not take the pattern";
  return new KernelError("INVALID_INPUT", message, { violations: [{ field: "$.pattern", rule: "pattern", message }] });
}

function refuseNul(text: string, field: string): void {
  if (!text.includes("\0")) return;
  const message = `${field} cannot hold a NUL`;
  throw new KernelError("INVALID_INPUT", message, { violations: [{ field: `$.${field}`, rule: "no_nul", message }] });
}
