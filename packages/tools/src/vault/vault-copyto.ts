import { defineTool } from "@narthex/kernel";
import { pathSchema } from "../files/path-schema.ts";
import { toUnsettledChange } from "../files/reconcile-change.ts";
import { absolutePath, workspacePath } from "../files/workspace-path.ts";
import { vaultPath } from "./vault-path.ts";

/** Copies one file of the vault into the workspace. */
export const vaultCopyTo = defineTool({
  name: "vault_copyto",
  description:
    "Copies a file of the vault, which no other tool can read, to a path of the workspace. What the session does afterwards is labelled secret.",
  source: "builtin",
  isolation: "worker",
  inputSchema: {
    type: "object",
    properties: {
      source: pathSchema("The file, from the vault's root."),
      destination: pathSchema(
        "Where it goes, relative to the working directory or absolute; a file there is replaced.",
      ),
    },
    required: ["source", "destination"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: { bytes: { type: "integer" }, hash: { type: "string" } },
    required: ["bytes", "hash"],
    additionalProperties: false,
  },
  resultType: "object",
  effects: ["fs_read", "fs_write"],
  determinism: "deterministic",
  tier: "side_effecting",
  capabilities: [
    { kind: "vault", prefixes: [] },
    { kind: "fs_write", prefixes: [] },
  ],
  needs: (input, session) => [
    { kind: "vault", prefixes: [`/${vaultPath(input.source)}`] },
    { kind: "fs_write", prefixes: [absolutePath(input.destination, session)] },
  ],
  async reconcile(intent, context) {
    const lost = toUnsettledChange(intent, context);
    const placed = await lost.stateOf("destination");
    if (placed.kind === "absent") return "did_not_happen";
    const { source } = lost.input;
    if (placed.kind !== "file" || typeof source !== "string") return "unknown";
    const { bytes, hash } = await context.inspectVault(vaultPath(source));
    if (placed.hash === hash) return { happened: { bytes, hash } };
    // The vault's file may have changed since. The hash of each file is recorded before it is placed.
    return context.wasPlaced(lost.pathOf("destination"), placed.hash) ? "unknown" : "did_not_happen";
  },
  async run(input, { vault, session }) {
    const { bytes, hash } = await vault.copyTo(vaultPath(input.source), workspacePath(input.destination, session));
    return { bytes, hash };
  },
});
