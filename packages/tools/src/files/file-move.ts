import { defineTool } from "@narthex/kernel";
import { changesOf } from "./changed-file.ts";
import { movedText } from "./file-texts.ts";
import { pathSchema } from "./path-schema.ts";
import { toUnsettledChange } from "./reconcile-change.ts";
import { absolutePath, workspacePath } from "./workspace-path.ts";

/** Renames or moves a file or a directory within the workspace. */
export const fileMove = defineTool({
  name: "file_move",
  description: "Moves or renames a file or directory.",
  source: "builtin",
  isolation: "worker",
  inputSchema: {
    type: "object",
    properties: {
      source: pathSchema("Present path."),
      destination: pathSchema("New path, including the name."),
      overwrite: { type: "boolean", description: "Replace an existing file." },
    },
    required: ["source", "destination"],
    additionalProperties: false,
  },
  resultType: "object",
  effects: ["fs_write"],
  determinism: "deterministic",
  tier: "side_effecting",
  capabilities: [{ kind: "fs_write", prefixes: [] }],
  needs: (input, session) => [
    { kind: "fs_write", prefixes: [absolutePath(input.source, session), absolutePath(input.destination, session)] },
  ],
  async reconcile(intent, context) {
    const lost = toUnsettledChange(intent, context);
    const [source, destination] = [await lost.stateOf("source"), await lost.stateOf("destination")];
    if (source.kind !== "absent") return "did_not_happen";
    if (destination.kind === "absent") return "unknown";
    const told = { destination: lost.pathOf("destination"), source: lost.pathOf("source") };
    return { happened: { ...told, replaced: null } };
  },
  textView: movedText,
  async run(input, { files, session }) {
    const source = workspacePath(input.source, session);
    const destination = workspacePath(input.destination, session);
    const answer = await files.run({ kind: "move", source, destination, overwrite: input.overwrite ?? false });
    const replaced = changesOf(answer).changes.some(
      ({ path, before }) => path === destination && before.kind === "file",
    );
    return { destination, replaced, source };
  },
});
