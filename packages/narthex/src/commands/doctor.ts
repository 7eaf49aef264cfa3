import { rmdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { isKernelError } from "@narthex/contracts";
import type { HostReport } from "@narthex/host";
import { formatNarthexCommand } from "../connect/narthex-command.ts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK, EXIT_TOOL_ERROR, EXIT_UNSAFE } from "../terminal/exit-code.ts";
import { loginName } from "../terminal/login-name.ts";
import { visible } from "../terminal/visible.ts";
import type { Command, Invocation } from "./command.ts";
import { printHostReport, printSteps, printUnsafe, reportToJson, unsafeToJson } from "./doctor-view.ts";

export const doctorCommand: Command = {
  details:
    "Starts real sandboxes and lets programs in them try what must not be possible. Needs no kernel, and disturbs none. " +
    "Looks at the current directory as a workspace; root, in a directory of root's, at a fresh one. Names the workspaces in which no program runs because protected " +
    "paths could not be put back; --accept ends that. Exit code 1 means that tools are disabled here, 6 that there is " +
    "such a workspace.",
  options: [
    { flags: "--workspace <dir>", description: "the directory to look at (default: the current one)" },
    { flags: "--fix", description: "print what an administrator has to do" },
    { flags: "--accept <workspace>", description: "you have looked at its protected paths: take them as they are" },
    { flags: "--by <name>", description: "with --accept: who says so (default: your user name)" },
  ],
  examples: ["narthex doctor", "narthex doctor --fix", "narthex doctor --json", "narthex doctor --accept ~/project"],

  async run(invocation) {
    const { home, environment, options, terminal } = invocation;
    const accepted = options.text("accept");
    if (accepted !== undefined) return await accept(invocation, accepted);
    const { examineHost, findUnsafeWorkspaces, homePaths, loadConfiguration } = await import("@narthex/host");
    const { configuration, guards } = homePaths(home);
    const { shell } = await loadConfiguration(configuration);
    const unsafe = await findUnsafeWorkspaces(guards);
    const workspace = await chooseWorkspace(invocation);
    let report: HostReport;
    try {
      report = await examineHost({
        kernelHome: home,
        userHome: homedir(),
        path: environment["PATH"] ?? "",
        directory: workspace.directory,
        shellBackend: shell.backend,
      });
    } finally {
      await workspace.remove();
    }
    if (workspace.note !== "" && !terminal.json) terminal.note(workspace.note, "");
    if (terminal.json) terminal.printJson({ ...reportToJson(report), unsafe_workspaces: unsafe.map(unsafeToJson) });
    else if (options.flag("fix")) printSteps(report, terminal);
    else printHostReport(report, terminal);
    if (!terminal.json) printUnsafe(unsafe, { program: formatNarthexCommand(environment), home }, terminal);
    if (unsafe.length > 0) return EXIT_UNSAFE;
    return report.toolClasses.some(({ state }) => state === "disabled") ? EXIT_TOOL_ERROR : EXIT_OK;
  },
};

interface ExaminedWorkspace {
  readonly directory: string;
  /** Why the current directory is not examined. */
  readonly note: string;
  remove(): Promise<void>;
}

/**
 * Chooses the directory to examine. A directory owned by root must be handed over before a session can use it, whatever
 * the host enforces: if root named no directory, a fresh workspace is examined, like one that `serve --first-session`
 * makes.
 */
async function chooseWorkspace({ options, environment }: Invocation): Promise<ExaminedWorkspace> {
  const named = options.text("workspace");
  const directory = resolve(named ?? ".");
  const asIs = { directory, note: "", remove: async () => undefined };
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || named !== undefined || options.flag("fix") || (await stat(directory)).uid !== 0) return asIs;
  const { makeWorkspace, stateDirectory } = await import("@narthex/host");
  const fresh = await makeWorkspace({ parent: join(stateDirectory(environment), "workspaces") });
  return {
    directory: fresh,
    note: `looking at a fresh workspace: \`${directory}\` is root's, and a session on it needs --adopt (--workspace . looks at it)`,
    // SECURITY: the directory belongs to the user that programs run as, so root removes nothing below it by path.
    remove: () => rmdir(fresh).catch(() => undefined),
  };
}

/**
 * Accepts an unsafe workspace. A running kernel sees this when it next starts a program there, and records who accepted
 * it.
 */
async function accept({ home, options, terminal }: Invocation, named: string): Promise<number> {
  const { acceptWorkspace, homePaths } = await import("@narthex/host");
  const by = options.text("by") ?? loginName();
  const { workspace } = await acceptWorkspace(homePaths(home).guards, named, by).catch((error: unknown) => {
    if (!isKernelError(error) || error.code !== "WORKSPACE_REFUSED") throw error;
    const next = "run `narthex doctor` to see which workspaces are unsafe; --accept takes one of them";
    throw new CommandError(error.code, error.message, { cause: error, next });
  });
  if (terminal.json) terminal.printJson({ workspace, accepted_by: by });
  else terminal.print(visible(`programs may run in ${workspace} again; all that is there counts as yours`));
  return EXIT_OK;
}
