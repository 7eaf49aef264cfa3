import { KernelError, MAX_READ_LIMIT } from "@narthex/contracts";
import { defineTool, type FileResult } from "@narthex/kernel";
import { pickLines } from "./pick-lines.ts";
import { pathSchema } from "./path-schema.ts";
import { pathScope } from "./path-scope.ts";
import { absolutePath, workspacePath } from "./workspace-path.ts";

const wholeNumber = (description: string, least: number, most: number = Number.MAX_SAFE_INTEGER) =>
  ({ type: "integer", minimum: least, maximum: most, description }) as const;

/** Pairs of fields that exclude each other. */
const MIXED = [
  ["offset", "first_line"],
  ["offset", "line_count"],
  ["limit", "first_line"],
  ["limit", "line_count"],
] as const;

/** Reads the bytes of a file, or of a part of it. The result's hash is the hash of these bytes. */
export const fileRead = defineTool({
  name: "file_read",
  description:
    "Reads a file, or a part of it: either bytes by offset and limit, or lines by first_line and line_count.",
  source: "builtin",
  isolation: "worker",
  inputSchema: {
    type: "object",
    properties: {
      path: pathSchema("Relative to the working directory, or absolute."),
      offset: wholeNumber("First byte.", 0),
      limit: wholeNumber("Bytes to read; 0: all.", 0, MAX_READ_LIMIT),
      first_line: wholeNumber("First line, from 1.", 1),
      line_count: wholeNumber("Lines to read.", 1),
    },
    required: ["path"],
    additionalProperties: false,
    // Bytes or lines, not both.
    not: { anyOf: MIXED.map((required) => ({ required })) },
  },
  resultType: "stream",
  normalise: "binary",
  effects: ["fs_read"],
  determinism: "deterministic",
  tier: "read_only",
  capabilities: [{ kind: "fs_read", prefixes: [] }],
  approvalScope: (input, session) => pathScope([input.path], session),
  needs: (input, session) => [{ kind: "fs_read", prefixes: [absolutePath(input.path, session)] }],
  firstLine({ first_line: first, line_count: count }) {
    return first === undefined && count === undefined ? undefined : (first ?? 1);
  },
  async run(input, { files, session }) {
    const { offset = 0, limit = 0, first_line: first, line_count: count } = input;
    const answer = await files.run({ kind: "read", path: workspacePath(input.path, session), offset, limit });
    const content = contentOf(answer);
    return first === undefined && count === undefined ? content : pickLines(content, first ?? 1, count);
  },
});

function contentOf(answer: FileResult): AsyncIterable<Uint8Array> {
  if (answer.kind !== "read") throw new KernelError("INTERNAL", "a reading was not answered by what was read");
  return answer.content;
}
