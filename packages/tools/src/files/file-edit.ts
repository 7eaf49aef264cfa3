import { KernelError } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { changesOf, hashesOf } from "./changed-file.ts";
import { editedText } from "./file-texts.ts";
import { pathSchema } from "./path-schema.ts";
import { toUnsettledChange } from "./reconcile-change.ts";
import { pathScope } from "./path-scope.ts";
import { absolutePath, workspacePath } from "./workspace-path.ts";

/** Replaces one piece of a text file. Changes nothing unless the piece occurs exactly once. */
export const fileEdit = defineTool({
  name: "file_edit",
  description:
    "Replaces old_content by new_content in a text file. old_content must occur exactly once unless replace_all is set; " +
    "otherwise nothing is changed, and the error names the lines where it was found.",
  source: "builtin",
  isolation: "worker",
  inputSchema: {
    type: "object",
    properties: {
      path: pathSchema("Relative to the working directory, or absolute."),
      old_content: { type: "string", minLength: 1, description: "Exact present text." },
      new_content: { type: "string" },
      replace_all: { type: "boolean" },
    },
    required: ["path", "old_content", "new_content"],
    additionalProperties: false,
  },
  resultType: "object",
  effects: ["fs_read", "fs_write"],
  determinism: "deterministic",
  tier: "side_effecting",
  capabilities: [
    { kind: "fs_read", prefixes: [] },
    { kind: "fs_write", prefixes: [] },
  ],
  approvalScope: (input, session) => pathScope([input.path], session),
  needs(input, session) {
    const prefixes = [absolutePath(input.path, session)];
    return [
      { kind: "fs_read", prefixes },
      { kind: "fs_write", prefixes },
    ];
  },
  async reconcile(intent, context) {
    const lost = toUnsettledChange(intent, context);
    const state = await lost.stateOf("path");
    const { old_content: old, new_content: fresh } = lost.input;
    if (state.kind !== "file" || typeof old !== "string" || typeof fresh !== "string") return "unknown";
    const text = Buffer.from(await lost.read("path")).toString();
    const hasOld = text.includes(old);
    const hasNew = text.includes(fresh);
    if (hasOld && !hasNew) return "did_not_happen";
    // If one text contains the other, or the new text is empty, the content does not show whether the edit happened.
    if (hasOld || !hasNew || fresh === "") return "unknown";
    return { happened: { hash_after: state.hash, hash_before: null, lines: [] } };
  },
  textView: editedText,
  async run(input, { files, session }) {
    const answer = await files.run({
      kind: "edit",
      path: workspacePath(input.path, session),
      oldContent: input.old_content,
      newContent: input.new_content,
      replaceAll: input.replace_all ?? false,
    });
    const { changes, lines } = changesOf(answer);
    const [change] = changes;
    if (change === undefined) throw new KernelError("INTERNAL", "a file was edited and is not there");
    return { lines: [...lines], ...hashesOf(change) };
  },
});
