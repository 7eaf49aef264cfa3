import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { isKernelError } from "@narthex/contracts";
import type { HostReport } from "@narthex/host";
import { applyPlan, applyUndoPlan } from "../connect/apply-plan.ts";
import { CLIENT_NAMES, findClient } from "../connect/clients.ts";
import { versionWarning } from "../connect/client-version.ts";
import type { Client, ConnectContext } from "../connect/client.ts";
import { loadRecord, recordPath } from "../connect/connection-record.ts";
import { planIgnored } from "../connect/git-exclude.ts";
import { describeHost } from "../connect/describe-host.ts";
import { isChanged, planConnection, planUndo } from "../connect/plan-connection.ts";
import { createPolicyTable } from "../connect/policy-table.ts";
import { createProgramLine, programWarning, quoteShellWords } from "../connect/program-line.ts";
import { checkWorkspaceOwner } from "../connect/check-workspace-owner.ts";
import { formatNarthexCommand } from "../connect/narthex-command.ts";
import { withConnection } from "../connection/open-connection.ts";
import { CommandError, usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Command, Invocation } from "./command.ts";
import { confirm } from "./connect-confirm.ts";
import { checkOwnCode } from "./own-code-option.ts";
import { formatCommandPrefix } from "./command-prefix.ts";
import {
  connectionToJson,
  type ConnectionView,
  printDifference,
  printSummary,
  undoToJson,
  printUndo,
} from "./connect-view.ts";

const NAMES = `${CLIENT_NAMES.slice(0, -1).join(", ")} or ${CLIENT_NAMES.at(-1) ?? ""}`;

export const connectCommand: Command = {
  details:
    "Writes the client's configuration in a workspace: a server that runs `narthex mcp` there, and what keeps the client " +
    "from acting past it, as far as the client can be kept. Shows the difference first and asks; off a terminal --yes " +
    "answers. What is there stays, comments and layout included. Files that git does not track are kept out of commits by " +
    "the clone's own list (.git/info/exclude). --undo takes back what was added.",
  arguments: [{ name: "<client>", description: NAMES }],
  options: [
    { flags: "--workspace <dir>", description: "the repository (default: the current directory)" },
    { flags: "--dry-run", description: "show what would be written, and write nothing" },
    { flags: "--undo", description: "take back what was added; what was changed since stays" },
    { flags: "--yes", description: "do not ask" },
    {
      flags: "--adopt",
      description: "for a workspace of root's: hand its files to the user that tools run as, when the client starts",
    },
  ],
  examples: ["narthex connect claude", "narthex connect codex --dry-run", "narthex connect opencode --undo"],

  async run(invocation) {
    const { arguments: words, options, home } = invocation;
    const name = words[0] ?? "";
    const client = findClient(name);
    if (client === undefined)
      throw usageError(
        `there is no client \`${name.slice(0, 60)}\`; name ${NAMES}`,
        "docs/guides/other-clients.md has entries for other MCP clients",
      );
    const { resolveWorkspace } = await import("@narthex/host");
    const named = options.text("workspace");
    const workspace = await resolveWorkspace(resolve(named ?? "."), { home }).catch((error: unknown) => {
      throw refusedHere(error, `narthex connect ${name}`);
    });
    const record = recordPath(workspace, name, invocation.environment);
    if (options.flag("undo")) return undo(record, invocation);
    await checkOwnCode(invocation, workspace);
    await checkWorkspaceOwner(workspace, { adopt: options.flag("adopt") });
    return connect({ name, client, workspace, record }, invocation);
  },
};

/** Replaces the error's advice, which is about opening a session, with advice for this command. */
function refusedHere(error: unknown, command: string): unknown {
  if (!isKernelError(error) || error.code !== "WORKSPACE_REFUSED") return error;
  const next = `go to the repository that the agent works in and run \`${command}\` there, or name it with --workspace DIR`;
  return new CommandError("WORKSPACE_REFUSED", error.message, { cause: error, next });
}

interface Connecting {
  readonly name: string;
  readonly client: Client;
  readonly workspace: string;
  readonly record: string;
}

async function connect({ name, client, workspace, record }: Connecting, invocation: Invocation): Promise<number> {
  const { terminal, home, options, environment } = invocation;
  const setting: ConnectContext = {
    workspace,
    adopt: options.flag("adopt"),
    line: (...words) => createProgramLine(words, home),
    has: (file) => existsSync(join(workspace, file)),
  };
  const plans = await planConnection(workspace, client.files(setting));
  const changes = plans.filter(isChanged);
  const ignored = await planIgnored(workspace, [...plans.map(({ file }) => file.name), ...(client.ownFiles ?? [])]);
  const warnings = [
    client.versions && (await versionWarning(client.versions, client.title, { workspace, environment })),
    programWarning(workspace),
  ];
  const view: ConnectionView = {
    name,
    client,
    plans: changes,
    ignored,
    host: describeHost(await examine(workspace, invocation)),
    policy: await withConnection(invocation, "connect", createPolicyTable),
    warnings: warnings.filter((warning) => warning !== undefined),
    undo: undoLine(
      formatNarthexCommand(environment),
      name,
      options.text("workspace") === undefined ? undefined : workspace,
    ),
    next: [...client.next(setting), answerLine(formatCommandPrefix(invocation))],
  };
  const isDry = options.flag("dry-run");
  if (!terminal.json) printDifference(view, terminal);
  const isWorkLeft = changes.length > 0 || ignored !== undefined;
  const isWritten = isWorkLeft && !isDry && (options.flag("yes") || (await confirm(invocation)));
  if (isWritten) await applyPlan(plans, { workspace, client: name, ...(ignored && { ignored }) }, record);
  if (terminal.json) terminal.printJson(connectionToJson(view, { workspace, isWritten }));
  else printSummary(view, { isWritten, isDry }, terminal);
  return EXIT_OK;
}

/** Some clients do not show that a call waits for an approval. */
function answerLine(program: string): string {
  return `answer what the agent asks you in another terminal: ${program} approvals watch`;
}

/** The workspace is named unless it is the current directory. */
function undoLine(program: string, name: string, workspace: string | undefined): string {
  return [
    program,
    "connect",
    name,
    "--undo",
    ...(workspace === undefined ? [] : ["--workspace", quoteShellWords([workspace])]),
  ].join(" ");
}

async function undo(path: string, invocation: Invocation): Promise<number> {
  const { terminal, options } = invocation;
  const record = await loadRecord(path);
  const plans = record === undefined ? [] : await planUndo(record);
  const isDry = options.flag("dry-run");
  // An undo needs no confirmation, because connecting can be repeated.
  if (record !== undefined && !isDry) await applyUndoPlan(plans, record, path);
  if (terminal.json) terminal.printJson(undoToJson(plans, { isWritten: record !== undefined && !isDry }));
  else printUndo(plans, { isKnown: record !== undefined, isDry }, terminal);
  return EXIT_OK;
}

async function examine(workspace: string, { home, environment }: Invocation): Promise<HostReport> {
  const { examineHost, homePaths, loadConfiguration } = await import("@narthex/host");
  const { shell } = await loadConfiguration(homePaths(home).configuration);
  return examineHost({
    kernelHome: home,
    userHome: homedir(),
    path: environment["PATH"] ?? "",
    directory: workspace,
    shellBackend: shell.backend,
  });
}
