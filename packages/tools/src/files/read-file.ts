import { KernelError } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { longText } from "./file-texts.ts";
import { pathSchema } from "./path-schema.ts";
import { collectBytes } from "./collect-bytes.ts";
import { pathScope } from "./path-scope.ts";
import { absolutePath, workspacePath } from "./workspace-path.ts";

const MAX_TEXT_BYTES = 8 * 1024 * 1024;

/** Returns a whole text file as an object. For parts, binary content and large files there is `file_read`. */
export const readFile = defineTool({
  name: "read_file",
  description: "Reads a text file of the workspace as a whole.",
  source: "builtin",
  isolation: "worker",
  inputSchema: {
    type: "object",
    properties: { path: pathSchema("Relative to the working directory, or absolute.") },
    required: ["path"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: { content: { type: "string" } },
    required: ["content"],
    additionalProperties: false,
  },
  resultType: "object",
  effects: ["fs_read"],
  determinism: "deterministic",
  tier: "read_only",
  capabilities: [{ kind: "fs_read", prefixes: [] }],
  approvalScope: (input, session) => pathScope([input.path], session),
  needs: (input, session) => [{ kind: "fs_read", prefixes: [absolutePath(input.path, session)] }],
  textView: ({ content }) => [longText(content)],
  async run(input, { files, session }) {
    const operation = { kind: "read", path: workspacePath(input.path, session), offset: 0, limit: 0 } as const;
    const bytes = await collectBytes(await files.run(operation), MAX_TEXT_BYTES, "file_read");
    try {
      return { content: strictText.decode(bytes) };
    } catch {
      throw new KernelError(
        "NOT_TEXT",
        `\`${input.path.slice(0, 200)}\` is not text in UTF-8; use file_read for its bytes`,
      );
    }
  },
});

const strictText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
