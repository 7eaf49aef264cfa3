import { KernelError } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { listedText } from "./file-texts.ts";
import { pathSchema } from "./path-schema.ts";
import { absolutePath, workspacePath } from "./workspace-path.ts";

const MAX_DEPTH = 64;
const MAX_ENTRIES = 100_000;
const DEFAULT_ENTRIES = 1000;

/** Lists the entries of a directory, sorted. */
export const fileList = defineTool({
  name: "file_list",
  description: "Lists a directory: names, kinds and sizes, sorted by name.",
  source: "builtin",
  isolation: "worker",
  inputSchema: {
    type: "object",
    properties: {
      path: pathSchema("`.` is the working directory."),
      recursive: { type: "boolean", description: "Include subdirectories." },
      depth: { type: "integer", minimum: 1, maximum: MAX_DEPTH, description: "Levels of subdirectories." },
      glob: { type: "string", minLength: 1, maxLength: 1000, description: "Such as `**/*.ts`." },
      hidden: { type: "boolean", description: "Include dot files." },
      limit: { type: "integer", minimum: 1, maximum: MAX_ENTRIES, description: "Maximum number of entries." },
    },
    required: ["path"],
    additionalProperties: false,
  },
  resultType: "array",
  effects: ["fs_read"],
  determinism: "deterministic",
  tier: "read_only",
  capabilities: [{ kind: "fs_read", prefixes: [] }],
  needs: (input, session) => [{ kind: "fs_read", prefixes: [absolutePath(input.path, session)] }],
  textView: listedText,
  async run(input, { files, session }) {
    const {
      recursive = false,
      depth = recursive ? MAX_DEPTH : 1,
      glob,
      hidden = false,
      limit = DEFAULT_ENTRIES,
    } = input;
    const answer = await files.run({
      kind: "list",
      path: workspacePath(input.path, session),
      depth,
      glob,
      hidden,
      limit,
    });
    if (answer.kind !== "list") throw new KernelError("INTERNAL", "a listing was not answered by a list");
    return answer.entries.map(({ name, kind, size }) => ({ name, kind, size }));
  },
});
