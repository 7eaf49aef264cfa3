import { homedir } from "node:os";
import { isKernelError } from "@narthex/contracts";
import { typedCommand } from "../connect/typed-command.ts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK, EXIT_TOOL_ERROR, EXIT_UNSAFE } from "../terminal/exit-code.ts";
import { loginName } from "../terminal/login-name.ts";
import { visible } from "../terminal/visible.ts";
import type { Command, Invocation } from "./command.ts";
import { printHostReport, printSteps, printUnsafe, reportToJson, unsafeToJson } from "./doctor-view.ts";

export const doctorCommand: Command = {
  details:
    "Starts real sandboxes and lets programs in them try what must not be possible. Needs no kernel, and disturbs none. " +
    "Looks at the current directory as a workspace. Names the workspaces in which no program runs because protected " +
    "paths could not be put back; --accept ends that. Exit code 1 means that tools are disabled here, 6 that there is " +
    "such a workspace.",
  options: [
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
    const report = await examineHost({
      kernelHome: home,
      userHome: homedir(),
      path: environment["PATH"] ?? "",
      directory: process.cwd(),
      shellBackend: shell.backend,
    });
    if (terminal.json) terminal.printJson({ ...reportToJson(report), unsafe_workspaces: unsafe.map(unsafeToJson) });
    else if (options.flag("fix")) printSteps(report, terminal);
    else printHostReport(report, terminal);
    if (!terminal.json) printUnsafe(unsafe, { program: typedCommand(environment), home }, terminal);
    if (unsafe.length > 0) return EXIT_UNSAFE;
    return report.toolClasses.some(({ state }) => state === "disabled") ? EXIT_TOOL_ERROR : EXIT_OK;
  },
};

/** The kernel, if one runs, finds it when a program is next started there, and records who said so. */
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
