import { homedir } from "node:os";
import { EXIT_OK, EXIT_TOOL_ERROR } from "../terminal/exit-code.ts";
import type { Command } from "./command.ts";
import { printHostReport, printSteps, reportToJson } from "./doctor-view.ts";

export const doctorCommand: Command = {
  details:
    "Starts real sandboxes and lets programs in them try what must not be possible. Needs no kernel, and disturbs none. " +
    "Looks at the current directory as a workspace. Exit code 1 means that tools are disabled here.",
  options: [{ flags: "--fix", description: "print what an administrator has to do" }],
  examples: ["narthex doctor", "narthex doctor --fix", "narthex doctor --json"],

  async run({ home, environment, options, terminal }) {
    const { examineHost, homePaths, loadConfiguration } = await import("@narthex/host");
    const { shell } = await loadConfiguration(homePaths(home).configuration);
    const report = await examineHost({
      kernelHome: home,
      userHome: homedir(),
      path: environment["PATH"] ?? "",
      directory: process.cwd(),
      shellBackend: shell.backend,
    });
    if (terminal.json) terminal.printJson(reportToJson(report));
    else if (options.flag("fix")) printSteps(report, terminal);
    else printHostReport(report, terminal);
    return report.toolClasses.some(({ state }) => state === "disabled") ? EXIT_TOOL_ERROR : EXIT_OK;
  },
};
