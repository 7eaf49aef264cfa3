import { access, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isKernelError, type JsonObject, KernelError } from "@narthex/contracts";
import {
  addedToolId,
  assemblePolicy,
  type FoundTools,
  findTools,
  type HomePaths,
  homePaths,
  isEndpoint,
  loadConfiguration,
  readPolicyDirectory,
  reservedNameProblem,
  storeTool,
} from "@narthex/host";
import { builtinTools } from "@narthex/tools";
import { tryServicesConnection, withConnection } from "../connection/open-connection.ts";
import { describeAddedTool, endpointSecretProblem } from "../endpoint-tools.ts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { visible } from "../terminal/visible.ts";
import { readPolicyTools } from "./policy-tools.ts";
import type { Command, Invocation } from "./command.ts";
import { createToolRule, toolRuleFile } from "./tool-rule.ts";
import { type AddedView, addedToJson, showAdded } from "./tools-add-view.ts";

export const toolsAddCommand: Command = {
  details:
    "PATH is a manifest (tool.json, tool.yaml) beside its program or with an endpoint, an OpenAPI description, a .ts or " +
    ".js file that exports tools, or a .wasm module that declares itself or has its manifest beside it. The files are " +
    "copied into the kernel's home and pinned by their hashes. docs/tools.md says how to write one.",
  arguments: [{ name: "<path>", description: "a manifest, a description of an API, or a module" }],
  options: [
    { flags: "--allow", description: "write the rule that permits it into the policy directory" },
    { flags: "--replace", description: "take the place of another definition of the same name and version" },
  ],
  examples: [
    "narthex tools add ./word-count/tool.yaml --allow",
    "narthex tools add ./my-tools.ts",
    "narthex tools add ./tool.wasm",
  ],

  async run(invocation) {
    const { options, terminal } = invocation;
    const found = await findNamed(invocation.arguments[0] ?? "");
    refuseReserved(found);
    // Runs before anything is stored: throws for an invalid endpoint.
    const described = found.tools.map(describeAddedTool);
    await refuseWorkspaces(found, invocation);
    const paths = homePaths(invocation.home);
    const isRunning = await isKernelRunning(invocation.home);
    const allowed = options.flag("allow");
    const rules = found.tools.map(
      ({ declaration }) => [toolRuleFile(declaration.name), createToolRule(declaration)] as const,
    );
    const answers: JsonObject[] = [];
    const states: AddedView["state"][] = [];
    for (const tool of found.tools) {
      states.push(await storeTool(paths.tools, tool, { replace: options.flag("replace") }));
    }
    // Rules are written after the tools: a rule for a tool that does not exist yet would permit whatever is added under
    // that name later.
    if (allowed) await writeRules(paths, new Map(rules));
    for (const [index, tool] of found.tools.entries()) {
      const [name = "", rule = ""] = rules[index] ?? [];
      const [file, state] = [join(paths.policy, name), states[index] ?? "unchanged"];
      const added = { tool, described: described[index] ?? describeAddedTool(tool), state };
      answers.push(addedToJson(added, rule, allowed ? file : ""));
      if (!terminal.json) showAdded(added, { rule, file, allowed }, terminal);
    }
    await noteSecrets(found, paths, terminal);
    if (terminal.json) terminal.printJson({ tools: answers, restart_needed: isRunning });
    else {
      terminal.print("", "sessions that are open already do not have it: open a new session");
      if (isRunning) terminal.note("the kernel that runs on this home takes the tool up when it is started again");
    }
    return EXIT_OK;
  },
};

/** Checks all names before any tool is stored. */
function refuseReserved({ tools }: FoundTools): void {
  const builtins = builtinTools();
  const violations = tools.flatMap((tool) => {
    const message = reservedNameProblem(tool.declaration.name, builtins);
    return message === undefined ? [] : [{ field: "name", rule: "exclusive", message }];
  });
  const [first] = violations;
  if (first !== undefined) throw new KernelError("ALREADY_REGISTERED", `${first.message}: choose another name`);
}

/** Only warns: the tool is added anyway, because narthex.yaml can be corrected later. */
async function noteSecrets({ tools }: FoundTools, paths: HomePaths, terminal: Terminal): Promise<void> {
  const endpoints = tools.filter(isEndpoint);
  if (endpoints.length === 0) return;
  const { network } = await loadConfiguration(paths.configuration);
  for (const tool of endpoints) {
    const problem = endpointSecretProblem(tool, network);
    if (problem !== undefined) terminal.note(visible(`${addedToolId(tool)} fails as it is: ${problem}`));
  }
}

/** SECURITY: a file in a workspace may have been written by the agent that would then call it. */
async function refuseWorkspaces({ paths }: FoundTools, invocation: Invocation): Promise<void> {
  const sessions = await withConnection(invocation, "tools add", (kernel) =>
    kernel.listSessions({ all: false, limit: MAX_SESSIONS }),
  );
  for (const { workspace } of sessions) {
    const inside = paths.find((path) => path.startsWith(`${workspace}/`));
    if (inside === undefined) continue;
    throw new KernelError(
      "INVALID_DECLARATION",
      `\`${inside}\` lies in the workspace of an open session, where an agent may have written it: move it elsewhere`,
    );
  }
}

async function findNamed(named: string): Promise<FoundTools> {
  const path = resolve(named);
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere) return await findTools(path);
  throw new CommandError("INVALID_DECLARATION", `\`${named.slice(0, 300)}\` does not exist, or may not be read`, {
    next: "name the tool's manifest or module by its path",
  });
}

const MAX_SESSIONS = 10_000;

async function isKernelRunning(home: string): Promise<boolean> {
  const kernel = await tryServicesConnection(home);
  await kernel?.close();
  return kernel !== undefined;
}

/**
 * Writes each rule to a file of its own. Keeps files that a user has changed.
 *
 * SECURITY: one invalid rule makes the whole policy invalid, and then every call is denied. So the rules are checked
 * together with the existing ones before anything is written.
 */
async function writeRules(paths: HomePaths, rules: ReadonlyMap<string, string>): Promise<void> {
  const known = (await readPolicyDirectory(paths.policy)).filter(({ name }) => !rules.has(name));
  const files = [...known, ...[...rules].map(([name, text]) => ({ name, text }))];
  try {
    await assemblePolicy(files, (await readPolicyTools(paths.home)).schema, { directory: paths.checkedPolicy });
  } catch (fault) {
    if (!isKernelError(fault)) throw fault;
    throw new KernelError("POLICY_INVALID", `with the new rule the policy cannot be used: ${fault.message}`, {
      violations: fault.violations,
    });
  }
  for (const [name, rule] of rules) await writeRule(join(paths.policy, name), rule);
}

async function writeRule(file: string, rule: string): Promise<void> {
  try {
    await writeFile(file, rule, { flag: "wx", mode: 0o600 });
  } catch (fault) {
    if (!(fault instanceof Error && "code" in fault && fault.code === "EEXIST")) throw fault;
    if ((await readFile(file, "utf8")) === rule) return;
    throw new KernelError("POLICY_INVALID", `\`${file}\` is there already and says something else: look at it`);
  }
}
