import { homedir } from "node:os";
import { resolve } from "node:path";
import type { HostReport } from "@narthex/host";
import { carryOut, carryOutUndo } from "../connect/carry-out.ts";
import { findClient } from "../connect/clients.ts";
import type { Client } from "../connect/client.ts";
import { loadRecord, recordPath } from "../connect/connection-record.ts";
import { hostLine } from "../connect/host-line.ts";
import { isChanged, planConnection, planUndo } from "../connect/plan-connection.ts";
import { policyLine } from "../connect/policy-line.ts";
import { programLine, programWarning } from "../connect/program-line.ts";
import { typedCommand } from "../connect/typed-command.ts";
import { withConnection } from "../connection/open-connection.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Command, Invocation } from "./command.ts";
import { confirm } from "./connect-confirm.ts";
import { checkOwnCode } from "./own-code-option.ts";
import {
  connectionToJson,
  type ConnectionView,
  printDifference,
  printSummary,
  undoToJson,
  printUndo,
} from "./connect-view.ts";

export const connectCommand: Command = {
  details:
    "Writes the client's configuration in a workspace: a server that runs `narthex mcp` there, and what keeps the client " +
    "from acting past it, as far as the client can be kept. Shows the difference first and asks; off a terminal --yes " +
    "answers. What is there stays, comments and layout included. --undo takes back what was added.",
  arguments: [{ name: "<client>", description: "claude, cursor or vscode" }],
  options: [
    { flags: "--workspace <dir>", description: "the repository (default: the current directory)" },
    { flags: "--dry-run", description: "show what would be written, and write nothing" },
    { flags: "--undo", description: "take back what was added; what was changed since stays" },
    { flags: "--yes", description: "do not ask" },
  ],
  examples: ["narthex connect claude", "narthex connect cursor --dry-run", "narthex connect vscode --undo"],

  async run(invocation) {
    const { arguments: words, options, home } = invocation;
    const name = words[0] ?? "";
    const client = findClient(name);
    if (client === undefined)
      throw usageError(`there is no client \`${name.slice(0, 60)}\`; name claude, cursor or vscode`);
    const { resolveWorkspace } = await import("@narthex/host");
    const workspace = await resolveWorkspace(resolve(options.text("workspace") ?? "."), { home });
    const record = recordPath(workspace, name, invocation.environment);
    if (options.flag("undo")) return undo(record, invocation);
    await checkOwnCode(invocation, workspace);
    return connect({ name, client, workspace, record }, invocation);
  },
};

interface Connecting {
  readonly name: string;
  readonly client: Client;
  readonly workspace: string;
  readonly record: string;
}

async function connect({ name, client, workspace, record }: Connecting, invocation: Invocation): Promise<number> {
  const { terminal, home, options } = invocation;
  const setting = { workspace, line: (...words: readonly string[]) => programLine(words, home) };
  const plans = await planConnection(workspace, client.files(setting));
  const changes = plans.filter(isChanged);
  const view: ConnectionView = {
    name,
    client,
    plans: changes,
    host: hostLine(await examine(workspace, invocation)),
    policy: await withConnection(invocation, "connect", policyLine),
    warning: programWarning(workspace),
    program: typedCommand(invocation.environment),
  };
  const isDry = options.flag("dry-run");
  if (!terminal.json) printDifference(view, terminal);
  const isWritten = changes.length > 0 && !isDry && (options.flag("yes") || (await confirm(invocation)));
  if (isWritten) await carryOut(plans, { workspace, client: name }, record);
  if (terminal.json) terminal.printJson(connectionToJson(view, { workspace, isWritten }));
  else printSummary(view, { isWritten, isDry }, terminal);
  return EXIT_OK;
}

async function undo(path: string, invocation: Invocation): Promise<number> {
  const { terminal, options } = invocation;
  const record = await loadRecord(path);
  const plans = record === undefined ? [] : await planUndo(record);
  const isDry = options.flag("dry-run");
  // Taking back asks nobody: it can be done again.
  if (record !== undefined && !isDry) await carryOutUndo(plans, path);
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
