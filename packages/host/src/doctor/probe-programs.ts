import { realpath } from "node:fs/promises";
import type { SandboxIdentity, SandboxMount } from "../sandbox/sandbox-plan.ts";
import type { Toolchain } from "../toolchains/toolchain.ts";
import { toolchainMounts } from "../toolchains/toolchain-plan.ts";
import { findReadProblem } from "../toolchains/path-access.ts";
import type { Mechanism } from "./host-report.ts";
import { type StartProgram, runProbe } from "./run-probe.ts";

interface ProgramProbe {
  readonly name: string;
  readonly how: string;
  readonly script: string;
  /**
   * Returns the path of one of the kernel's own programs, mounted as `/opt/trial`. Without it, a program of `/usr` is
   * used.
   */
  source?(): Promise<string>;
  readonly advice: string;
}

const PROGRAM_PROBES: readonly ProgramProbe[] = [
  {
    name: "node",
    how: "our Node run inside",
    script: "/opt/trial -p 'process.version'",
    source: () => realpath(process.execPath),
    advice: "install Node where the sandbox's user can read it, such as /usr/local",
  },
  {
    name: "ripgrep",
    how: "a file searched inside",
    script: "echo needle > file && /opt/trial --no-config -q needle file && /opt/trial --version | head -n 1",
    source: async () => await realpath((await import("@vscode/ripgrep")).rgPath),
    advice: "install Narthex again with its optional dependencies, where the sandbox's user can read it",
  },
  {
    name: "git",
    how: "a repository made inside",
    script: "git init -q repository && git -C repository status --porcelain && git --version",
    advice: "apt-get install git",
  },
  {
    name: "perl",
    how: "the modules that hand requests on, loaded inside",
    script: "/usr/bin/perl -MSocket -MFcntl -MErrno -e 'printf \"perl %vd\\n\", $^V'",
    advice: "apt-get install perl-base",
  },
];

/** Runs each program that tools need in a sandbox. */
export async function probePrograms(start: StartProgram, identity: SandboxIdentity): Promise<Mechanism[]> {
  return await Promise.all(PROGRAM_PROBES.map((trial) => probeProgram(start, identity, trial)));
}

async function probeProgram(
  start: StartProgram,
  identity: SandboxIdentity,
  { name, how, script, source, advice }: ProgramProbe,
): Promise<Mechanism> {
  const failed = (found: string): Mechanism => ({ name, state: "fails", how, found, advice });
  let mounts: SandboxMount[] = [];
  try {
    const program = await source?.();
    if (program !== undefined) {
      const barred = await findReadProblem(program, identity);
      if (barred !== undefined) return failed(barred);
      mounts = [{ source: program, target: "/opt/trial", access: "read" }];
    }
  } catch (fault) {
    return failed(fault instanceof Error ? fault.message : String(fault));
  }
  const { end, output } = await runProbe(start, { identity, mounts }, script);
  if (end?.exitCode !== 0) return failed(lastLine(output) || "it did not run");
  return { name, state: "holds", how, found: lastLine(output), advice: undefined };
}

/** Mounts every usable toolchain prefix, and looks for its programs from inside the sandbox. */
export async function probeToolchains(
  start: StartProgram,
  identity: SandboxIdentity,
  toolchains: readonly Toolchain[],
): Promise<Mechanism> {
  const how = "prefixes on your PATH mounted and entered inside";
  const usable = toolchains.filter(({ unusable }) => unusable === undefined);
  const directories = usable.flatMap((toolchain) => toolchain.directories);
  const script = 'for directory; do cd "$directory" && ls >/dev/null || exit 1; done; echo "$#"';
  const plan = { identity, mounts: toolchainMounts(toolchains) };
  const { end, output } = await runProbe(start, plan, script, directories);
  const holds = end?.exitCode === 0 && output === String(directories.length);
  const left = toolchains.length - usable.length;
  return {
    name: "toolchains",
    state: holds ? "holds" : "fails",
    how,
    found: holds ? `${usable.length} usable, ${left} not` : lastLine(output),
    advice: holds ? undefined : "programs outside /usr cannot be run inside; see the prefixes below",
  };
}

function lastLine(output: string): string {
  return output.slice(output.lastIndexOf("\n") + 1).slice(0, MAX_FOUND);
}

const MAX_FOUND = 200;
