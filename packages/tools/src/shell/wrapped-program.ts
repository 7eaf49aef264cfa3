/** The program that a wrapper such as `env` runs. */
export type WrappedProgram =
  /** Runs no other program. */
  | { readonly kind: "none" }
  | {
      readonly kind: "program";
      readonly name: string;
      readonly args: readonly string[];
      /** `NAME=VALUE` before the program's name. */
      readonly assignments: readonly string[];
      /** Why the program will get more arguments than these. */
      readonly reason?: string;
    }
  /** Runs a program that its arguments do not clearly name. */
  | { readonly kind: "unclear"; readonly reason: string };

interface Wrapper {
  /** The word before the program's name; with any other word the wrapper does something else. */
  readonly subcommand?: string;
  /** Options without a value. */
  readonly flags?: readonly string[];
  /** Options with a value: the next argument, or the rest of the same one. */
  readonly values?: readonly string[];
  /** Number of the wrapper's own operands before the program. */
  readonly operands?: number;
  readonly assignments?: true;
  /** Options with which nothing is run. */
  readonly lookups?: readonly string[];
  /** Set if the program gets more arguments than the written ones; describes them. */
  readonly feeds?: string;
  /** Set if the wrapper runs something even without a program; describes that. */
  readonly alone?: string;
}

/**
 * SECURITY: an option that is not listed makes the command unclear, because it could take the program's name as its
 * value.
 */
const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ["env", { flags: ["-i", "-", "--ignore-environment"], values: ["-u", "--unset"], assignments: true }],
  ["nice", { flags: [], values: ["-n", "--adjustment"] }],
  ["nohup", {}],
  ["time", { flags: ["-p", "-v", "--portability", "--verbose"] }],
  [
    "timeout",
    {
      flags: ["--preserve-status", "--foreground", "-v", "--verbose"],
      values: ["-s", "--signal", "-k", "--kill-after"],
      operands: 1,
    },
  ],
  [
    "xargs",
    {
      flags: ["-0", "-r", "-t", "-x", "--null", "--no-run-if-empty", "--verbose", "--exit"],
      values: ["-n", "-P", "-L", "-I", "-d", "-s", "--max-args", "--max-procs", "--max-lines", "--delimiter"],
      feeds: "arguments from standard input",
    },
  ],
  [
    "sudo",
    { flags: ["-n", "-H", "-k", "-E"], values: ["-u", "-g"], assignments: true, alone: "sudo without a program" },
  ],
  ["doas", { flags: ["-n"], values: ["-u"], alone: "doas without a program" }],
  ["command", { flags: ["-p"], lookups: ["-v", "-V"] }],
  ["builtin", {}],
  ["exec", { alone: "exec without a program changes the shell itself" }],
  ["stdbuf", { values: ["-i", "-o", "-e", "--input", "--output", "--error"] }],
  ["setsid", { flags: ["-c", "-f", "-w", "--ctty", "--fork", "--wait"] }],
  ["ionice", { flags: ["-t"], values: ["-c", "-n"] }],
  ["chronic", {}],
  ["busybox", { alone: "busybox without a program" }],
  ["toybox", { alone: "toybox without a program" }],
  // Runs a program of a package; without a network it must be installed already.
  [
    "npx",
    {
      flags: ["-y", "--yes", "--no", "--no-install", "--offline", "--prefer-offline", "-q", "--quiet"],
      alone: "npx without a program",
    },
  ],
  ["uv", { subcommand: "run", flags: ["-q", "--quiet", "--offline", "--frozen", "--locked", "--no-sync"] }],
  ["poetry", { subcommand: "run" }],
  ["bundle", { subcommand: "exec" }],
]);

/** Programs whose purpose is to run others, in ways that are not examined. */
const LAUNCHERS: ReadonlySet<string> = new Set(
  (
    "at batch bwrap chroot chrt cpulimit crontab daemonize dbus-run-session doas-edit entr expect fakechroot fakeroot " +
    "firejail flock gdb gnome-terminal i386 inotifywait linux32 linux64 lldb ltrace nsenter numactl parallel pkexec " +
    "proot prlimit pssh run-parts runuser schedtool screen script setarch setpriv sg sshpass start-stop-daemon strace " +
    "su systemd-run taskset tini tmux torsocks proxychains unbuffer unshare valgrind watch x86_64 xterm xvfb-run"
  ).split(" "),
);

const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** Finds the program that `name` runs. `name` is without its directories. */
export function wrappedProgram(name: string, args: readonly string[]): WrappedProgram {
  if (LAUNCHERS.has(name)) return { kind: "unclear", reason: `${name} runs another program` };
  const wrapper = WRAPPERS.get(name);
  if (wrapper === undefined) return { kind: "none" };
  const { flags = [], values = [], lookups = [], subcommand } = wrapper;
  if (subcommand !== undefined && args[0] !== subcommand) return { kind: "none" };
  let at = subcommand === undefined ? 0 : 1;
  for (; at < args.length; at++) {
    const option = args[at] ?? "";
    if (option === "--") {
      at++;
      break;
    }
    if (!option.startsWith("-")) break;
    if (flags.includes(option)) continue;
    if (lookups.includes(option)) return { kind: "none" };
    const known = values.find((value) => isOptionWithValue(option, value));
    if (known === undefined)
      return { kind: "unclear", reason: `an option of ${name} that is not known to be harmless` };
    if (known === option) at++;
  }
  const assignments: string[] = [];
  while (wrapper.assignments && ASSIGNMENT.test(args[at] ?? "")) assignments.push(args[at++] ?? "");
  at += wrapper.operands ?? 0;
  const inner = args[at];
  if (inner === undefined) {
    return wrapper.alone === undefined ? { kind: "none" } : { kind: "unclear", reason: wrapper.alone };
  }
  const program = { kind: "program" as const, name: inner, args: args.slice(at + 1), assignments };
  return wrapper.feeds === undefined ? program : { ...program, reason: wrapper.feeds };
}

/** `-n 5`, `-n5`, `--signal KILL`, `--signal=KILL`. */
function isOptionWithValue(option: string, known: string): boolean {
  if (option === known) return true;
  return known.startsWith("--") ? option.startsWith(`${known}=`) : option.startsWith(known) && !option.startsWith("--");
}
