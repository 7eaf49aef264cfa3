import { isKernelError, type JsonObject, type Violation } from "@narthex/contracts";
import { type Capability, type CedarRequest, type PolicySchema, policySchema } from "@narthex/kernel";
import { type LoadedPolicySet, loadPolicySet } from "./load-policy-set.ts";

const FILES: Capability[] = [{ kind: "fs_write", prefixes: ["/"] }];
const COMMAND: JsonObject = {
  type: "object",
  required: ["command"],
  properties: {
    command: {
      type: "object",
      required: ["literal", "names"],
      properties: { literal: { type: "boolean" }, names: { type: "array", items: { type: "string" } } },
    },
  },
};

/** Schema for tests: a tool that writes files, one with two actions, one that runs commands. */
export const TEST_SCHEMA: PolicySchema = policySchema([
  {
    declaration: {
      name: "file_write",
      capabilities: FILES,
      inputSchema: {
        type: "object",
        required: ["path"],
        properties: { path: { type: "string" }, size: { type: "integer" } },
      },
    },
  },
  { declaration: { name: "git", capabilities: FILES, inputSchema: true }, actions: ["git_log", "git_push"] },
  { declaration: { name: "shell_exec", capabilities: FILES, inputSchema: true }, facts: COMMAND },
  { declaration: { name: "echo", capabilities: [], inputSchema: true } },
]);

/** Loads one file, or several by name. */
export function load(files: string | Readonly<Record<string, string>>): Promise<LoadedPolicySet> {
  const named = typeof files === "string" ? { "p.cedar": files } : files;
  return loadPolicySet(
    Object.entries(named).map(([name, text]) => ({ name, text })),
    TEST_SCHEMA,
  );
}

/** Returns the problems of a set as `place: message` lines; empty if the set is valid. */
export async function problemsOf(files: string | Readonly<Record<string, string>>): Promise<string[]> {
  try {
    await load(files);
    return [];
  } catch (fault) {
    if (!isKernelError(fault) || fault.code !== "POLICY_INVALID") throw fault;
    return fault.violations.map(({ field, message }: Violation) => `${field}: ${message}`);
  }
}

/** Creates a request for an action with every required context field. */
export function requestFor(action: string, more: JsonObject = {}): CedarRequest {
  const agent = { type: "Agent", id: "coder" };
  const user = { type: "User", id: "ada" };
  const tenant = { type: "Tenant", id: "acme" };
  const workspace = { type: "Workspace", id: "/w" };
  return {
    principal: agent,
    action: { type: "Action", id: action },
    resource: workspace,
    context: {
      tool: "t",
      version: "1.0.0",
      source: "builtin",
      isolation: "worker",
      definition_hash: "00",
      input_digest: "00",
      effects: ["fs_write"],
      tier: "side_effecting",
      determinism: "external",
      labels: [],
      directory: ".",
      calls: 3,
      time_ms: 1000,
      budget: { calls: 10 },
      input: {},
      path: "src/a.ts",
      writes: true,
      ...more,
    },
    entities: [
      {
        uid: agent,
        attrs: { name: "coder", user: "ada", tenant: "acme", session: "ses_1" },
        parents: [user, tenant],
      },
      { uid: user, attrs: { name: "ada", tenant: "acme" }, parents: [tenant] },
      { uid: tenant, attrs: { name: "acme" }, parents: [] },
      { uid: workspace, attrs: { path: "/w" }, parents: [] },
    ],
  };
}
