import { defineTool } from "@narthex/kernel";
import { changesOf } from "./changed-file.ts";
import { deletedText } from "./file-texts.ts";
import { pathSchema } from "./path-schema.ts";
import { toUnsettledChange } from "./reconcile-change.ts";
import { pathScope } from "./path-scope.ts";
import { absolutePath, workspacePath } from "./workspace-path.ts";

const MAX_NAMED = 1000;

/** Deletes a file, a link, or a directory. A link itself is deleted, never its target. */
export const fileDelete = defineTool({
  name: "file_delete",
  description: "Deletes a file or an empty directory; with recursive, a directory and its contents.",
  source: "builtin",
  isolation: "worker",
  inputSchema: {
    type: "object",
    properties: {
      path: pathSchema("Relative to the working directory, or absolute."),
      recursive: { type: "boolean" },
    },
    required: ["path"],
    additionalProperties: false,
  },
  resultType: "object",
  effects: ["fs_write"],
  determinism: "deterministic",
  tier: "side_effecting",
  capabilities: [{ kind: "fs_write", prefixes: [] }],
  approvalScope: (input, session) => (input.recursive === true ? undefined : pathScope([input.path], session)),
  needs: (input, session) => [{ kind: "fs_write", prefixes: [absolutePath(input.path, session)] }],
  async reconcile(intent, context) {
    const lost = toUnsettledChange(intent, context);
    const { kind } = await lost.stateOf("path");
    if (kind === "absent") return { happened: { count: null, deleted: [lost.pathOf("path")] } };
    // A directory is deleted entry by entry, so a crash may leave a part of it.
    return kind === "directory" && lost.input["recursive"] === true ? "unknown" : "did_not_happen";
  },
  textView: deletedText,
  async run(input, { files, session }) {
    const operation = {
      kind: "delete",
      path: workspacePath(input.path, session),
      recursive: input.recursive ?? false,
    } as const;
    const { changes } = changesOf(await files.run(operation));
    return { count: changes.length, deleted: changes.slice(0, MAX_NAMED).map((change) => change.path) };
  },
});
