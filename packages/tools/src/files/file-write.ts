import { blake3, KernelError, toHex } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { changesOf, hashesOf } from "./changed-file.ts";
import { writtenText } from "./file-texts.ts";
import { pathSchema } from "./path-schema.ts";
import { toUnsettledChange } from "./reconcile-change.ts";
import { pathScope } from "./path-scope.ts";
import { absolutePath, workspacePath } from "./workspace-path.ts";

/** Writes a whole file, or appends to it, atomically: a partial write is never visible. */
export const fileWrite = defineTool({
  name: "file_write",
  description: "Writes a whole file and creates missing directories. To change a part of a file, use file_edit.",
  source: "builtin",
  isolation: "worker",
  inputSchema: {
    type: "object",
    properties: {
      path: pathSchema("Relative to the working directory, or absolute."),
      content: { type: "string" },
      encoding: { enum: ["utf8", "base64"], description: "Of content; utf8 by default." },
      create_only: { type: "boolean", description: "Fail if the file exists." },
      append: {
        type: "boolean",
        description: "Add to the end, or create the file. Not with create_only.",
      },
    },
    required: ["path", "content"],
    additionalProperties: false,
  },
  resultType: "object",
  effects: ["fs_write"],
  determinism: "deterministic",
  tier: "side_effecting",
  capabilities: [{ kind: "fs_write", prefixes: [] }],
  approvalScope: (input, session) => pathScope([input.path], session),
  needs(input, session) {
    // Invalid base64 is refused before anything starts.
    if (input.encoding === "base64") decodeContent(input.content, "base64");
    return [{ kind: "fs_write", prefixes: [absolutePath(input.path, session)] }];
  },
  async reconcile(intent, context) {
    const lost = toUnsettledChange(intent, context);
    const state = await lost.stateOf("path");
    if (state.kind === "absent") return "did_not_happen";
    const { content, encoding, append } = lost.input;
    if (state.kind !== "file" || append === true || typeof content !== "string") return "unknown";
    const bytes = decodeContent(content, encoding === "base64" ? "base64" : "utf8");
    if (state.hash !== toHex(blake3(bytes))) return "did_not_happen";
    return { happened: { bytes: bytes.length, created: null, hash_after: state.hash, hash_before: null } };
  },
  textView: writtenText,
  async run(input, { files, session }) {
    const content = decodeContent(input.content, input.encoding ?? "utf8");
    const mode = input.append === true ? "append" : input.create_only === true ? "create_only" : "replace";
    const answer = await files.run({ kind: "write", path: workspacePath(input.path, session), content, mode });
    const [change] = changesOf(answer).changes.filter((candidate) => candidate.after.kind === "file");
    if (change === undefined) throw new KernelError("INTERNAL", "a file was written and is not there");
    return { bytes: content.length, created: change.before.kind === "absent", ...hashesOf(change) };
  },
});

function decodeContent(content: string, encoding: "utf8" | "base64"): Uint8Array {
  if (encoding === "utf8") return new TextEncoder().encode(content);
  const bytes = Buffer.from(content, "base64");
  // Buffer accepts anything similar to base64 and drops the rest.
  if (bytes.toString("base64").replace(/=+$/, "") === content.replace(/=+$/, "")) return bytes;
  const message = "content is not base64";
  throw new KernelError("INVALID_INPUT", message, { violations: [{ field: "content", rule: "format", message }] });
}
