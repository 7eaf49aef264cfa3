import { GIT_OPERATIONS } from "@narthex/contracts";
import { type Capability, defineTool, type Effect } from "@narthex/kernel";
import { PROGRAM_OUTPUT_SCHEMA, programText } from "../programs/program-output.ts";
import { checkGit } from "./check-git.ts";
import { discardsWork } from "./discards-work.ts";
import { gitHosts, gitRights } from "./git-hosts.ts";
import { GIT_OPERATION_FACTS } from "./git-operations.ts";
import { runGit } from "./run-git.ts";

const READ_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 600_000;
/** Git's own timeout ends first, so that its output is kept. */
const GRACE_MS = 10_000;
const EFFECTS = ["process_spawn", "fs_read", "fs_write", "net_read", "net_write"] as const satisfies readonly Effect[];

function actionOf(operation: string): string {
  return `git_${operation.toLowerCase()}`;
}

/** Runs the real git, in a sandbox over the workspace. */
export const gitTool = defineTool({
  name: "git",
  description:
    "Runs one git operation in a sandbox. Programs that the repository names (hooks, filters, pagers) are not run. A " +
    "non-zero exit code is a result, not an error.",
  source: "builtin",
  isolation: "process",
  inputSchema: {
    type: "object",
    properties: {
      operation: { type: "string", enum: GIT_OPERATIONS },
      args: {
        type: "array",
        items: { type: "string", maxLength: 32_768 },
        maxItems: 1000,
        description: 'As on the command line: ["-m", "first commit"].',
      },
      cwd: {
        type: "string",
        maxLength: 4096,
        description: "Directory of the repository; default: the working directory.",
      },
      hosts: {
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 300 },
        maxItems: 20,
        description: "Hosts of a remote that is given by name, for FETCH, PULL and PUSH: `host` or `host:port`.",
      },
    },
    required: ["operation"],
    additionalProperties: false,
  },
  outputSchema: PROGRAM_OUTPUT_SCHEMA,
  resultType: "object",
  effects: EFFECTS,
  determinism: "nondeterministic",
  tier: "privileged",
  capabilities: [
    { kind: "git", names: [] },
    { kind: "fs_read", prefixes: [] },
    { kind: "fs_write", prefixes: [] },
    { kind: "net_read", hosts: [] },
    { kind: "net_write", hosts: [] },
  ],
  bounds: { timeoutMs: MAX_TIMEOUT_MS, maxOutputBytes: 32_768 },
  actions: GIT_OPERATIONS.map(actionOf),
  action: ({ operation }) => actionOf(operation),
  derived: {
    schema: { type: "object", properties: { discards: { type: "boolean" } }, required: ["discards"] },
    of: ({ operation, args = [] }) => ({ discards: discardsWork(GIT_OPERATION_FACTS[operation].command, args) }),
  },
  needsAnyOf: ["git"],
  anyCase: ["operation"],
  narrow(input) {
    const { operation } = input;
    const hasNetwork = gitHosts(input).length > 0;
    const { effects, tier, determinism, readOnly } = GIT_OPERATION_FACTS[operation];
    return {
      effects: EFFECTS.filter((effect) => effects.includes(effect) && (hasNetwork || !effect.startsWith("net_"))),
      tier,
      determinism,
      timeoutMs: readOnly ? READ_TIMEOUT_MS : MAX_TIMEOUT_MS,
    };
  },
  needs(input, session): Capability[] {
    checkGit(input, session);
    const { operation } = input;
    return [
      { kind: "git", names: [operation] },
      { kind: "fs_read", prefixes: [session.workspace] },
      ...(GIT_OPERATION_FACTS[operation].readOnly
        ? []
        : [{ kind: "fs_write", prefixes: [session.workspace] } as const]),
      ...gitRights(input),
    ];
  },
  changesByPrograms: true,
  textView: programText,
  run(input, context) {
    const { readOnly } = GIT_OPERATION_FACTS[input.operation];
    const hasNetwork = gitHosts(input).length > 0;
    const checked = { ...checkGit(input, context.session), hasNetwork };
    return runGit(checked, context, (readOnly ? READ_TIMEOUT_MS : MAX_TIMEOUT_MS) - GRACE_MS);
  },
});
