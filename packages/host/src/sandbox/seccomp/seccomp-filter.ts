import { BpfProgram } from "./bpf-program.ts";
import {
  ABSENT_CALLS,
  DENIED_CALLS,
  FIRST_UNKNOWN_CALL,
  HIDDEN_MEMORY_CALLS,
  FILTERED_CALLS,
} from "./syscall-numbers.ts";

export type SandboxArchitecture = "x64" | "arm64";
export type SocketFamily = "unix" | "inet" | "inet6";

export interface SeccompOptions {
  readonly architecture: SandboxArchitecture;
  /** Socket families that a program may use; connected pairs between its own processes are always possible. */
  readonly socketFamilies: readonly SocketFamily[];
  /** Whether the program may start other processes; threads are always possible. */
  readonly mayFork: boolean;
  /**
   * Whether memory that belongs to no process is counted. SECURITY: where a watchdog sums the memory of processes,
   * memfd files and shared segments would be unlimited memory.
   */
  readonly countsAllMemory: boolean;
}

/**
 * Creates the system call filter of a contained program.
 *
 * SECURITY: namespaces do not restrict system calls. The filter denies those that create namespaces, mount, trace, load
 * code into the operating system's kernel or affect the whole machine; AF_VSOCK, which ignores network namespaces;
 * sockets that can send to named addresses; injecting characters into a terminal; and setuid and setgid bits, which
 * would lend the owner's rights to every other user of the host. Tested from inside by
 * `test/attacks/sandbox-escape.test.ts`.
 */
export function createSeccompFilter(options: SeccompOptions): Buffer {
  const column = options.architecture === "x64" ? 0 : 1;
  const program = new BpfProgram();
  program.load(ARCHITECTURE_OFFSET).ifNotEqual(AUDIT_ARCHITECTURES[options.architecture], "kill").load(NUMBER_OFFSET);
  if (options.architecture === "x64") program.ifAtLeast(X32_BIT, "kill");
  program.ifAtLeast(FIRST_UNKNOWN_CALL, "absent");
  for (const numbers of Object.values(ABSENT_CALLS)) onCall(program, numbers[column], "absent");
  if (!options.countsAllMemory) {
    for (const numbers of Object.values(HIDDEN_MEMORY_CALLS)) onCall(program, numbers[column], "absent");
  }
  for (const numbers of Object.values(FILTERED_CALLS)) onCall(program, numbers[column], labelOf(numbers));
  for (const numbers of Object.values(DENIED_CALLS)) onCall(program, numbers[column], "deny");
  program.returnAction(ALLOW);
  filterProcessCalls(program, options);
  filterOtherCalls(program, options);
  filterModeCalls(program);
  program.label("kill").returnAction(KILL_PROCESS);
  program.label("absent").returnAction(errno(ENOSYS));
  program.label("deny").returnAction(errno(EPERM));
  return program.encode();
}

type CallNumbers = readonly [number | undefined, number | undefined];

function onCall(program: BpfProgram, number: number | undefined, label: string): void {
  if (number !== undefined) program.ifEqual(number, label);
}

function labelOf(numbers: CallNumbers): string {
  const found = Object.entries(FILTERED_CALLS).find(([, candidate]) => candidate === numbers);
  if (found === undefined) throw new TypeError("not a judged call");
  return found[0];
}

/**
 * Denies new namespaces. A program without `mayFork` is killed when it starts a process, so that the violation is
 * visible.
 */
function filterProcessCalls(program: BpfProgram, { mayFork }: SeccompOptions): void {
  program.label("clone").load(argument(0)).ifAnyBit(CLONE_NAMESPACES, "deny");
  if (!mayFork) program.and(CLONE_THREAD).ifEqual(0, "kill");
  program.returnAction(ALLOW);
  program.label("fork").label("vfork");
  program.returnAction(mayFork ? ALLOW : KILL_PROCESS);
}

function filterOtherCalls(program: BpfProgram, { socketFamilies }: SeccompOptions): void {
  // Linux uses only the low 32 bits of an ioctl request, so only those are compared.
  program.label("ioctl").load(argument(1)).ifEqual(TIOCSTI, "deny").ifEqual(TIOCLINUX, "deny").returnAction(ALLOW);
  program.label("socket").load(argument(0));
  for (const family of socketFamilies) program.ifEqual(FAMILIES[family], "socket-allowed");
  program.returnAction(errno(EAFNOSUPPORT)).label("socket-allowed").returnAction(ALLOW);
  // A pair of datagram sockets could send to any host socket that is visible in a mount.
  program.label("socketpair").load(argument(1)).and(SOCKET_TYPE);
  for (const type of CONNECTED_TYPES) program.ifEqual(type, "socketpair-allowed");
  program.returnAction(errno(EPERM)).label("socketpair-allowed").returnAction(ALLOW);
  program.label("personality").load(argument(0)).ifEqual(0, "personality-allowed");
  program.ifNotEqual(ASK_PERSONALITY, "deny").label("personality-allowed").returnAction(ALLOW);
  for (const [call, mode] of [
    ["mknod", 1],
    ["mknodat", 2],
  ] as const) {
    program.label(call).load(argument(mode)).ifAnyBit(SET_ID_BITS, "deny").and(FILE_KIND);
    for (const kind of PLAIN_KINDS) program.ifEqual(kind, `${call}-allowed`);
    program.returnAction(errno(EPERM)).label(`${call}-allowed`).returnAction(ALLOW);
  }
}

/**
 * Denies setuid and setgid bits in every call that takes a mode. `mkdir` drops both by itself.
 *
 * SECURITY: such a file would also work on the host, outside the sandbox. File capabilities need no rule: setting them
 * requires CAP_SETFCAP, and a sandbox has no capabilities.
 */
function filterModeCalls(program: BpfProgram): void {
  for (const [call, flags] of [
    ["open", 1],
    ["openat", 2],
  ] as const) {
    // The mode follows the flags; if no file can be created, it is an arbitrary register value.
    program.label(call).load(argument(flags)).ifAnyBit(CREATING_FLAGS, `${call}-creating`).returnAction(ALLOW);
    program.label(`${call}-creating`).load(argument(flags + 1));
    program.ifAnyBit(SET_ID_BITS, "deny").returnAction(ALLOW);
  }
  for (const [call, mode] of [
    ["creat", 1],
    ["chmod", 1],
    ["fchmod", 1],
    ["fchmodat", 2],
  ] as const) {
    program.label(call).load(argument(mode)).ifAnyBit(SET_ID_BITS, "deny").returnAction(ALLOW);
  }
}

/** Offsets into `struct seccomp_data`. */
const NUMBER_OFFSET = 0;
const ARCHITECTURE_OFFSET = 4;
/** Low half of an argument: both architectures are little-endian. */
const argument = (index: number): number => 16 + index * 8;

const AUDIT_ARCHITECTURES: Readonly<Record<SandboxArchitecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
const X32_BIT = 0x4000_0000;

const KILL_PROCESS = 0x8000_0000;
const ALLOW = 0x7fff_0000;
const errno = (number: number): number => 0x0005_0000 | number;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. NEWTIME is not a flag of `clone`. */
const CLONE_NAMESPACES = 0x7e02_0000;
const CLONE_THREAD = 0x0001_0000;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const ASK_PERSONALITY = 0xffff_ffff;
const FAMILIES: Readonly<Record<SocketFamily, number>> = { unix: 1, inet: 2, inet6: 10 };
/** Mask without SOCK_CLOEXEC and SOCK_NONBLOCK. */
const SOCKET_TYPE = 0xf;
/** Stream and seqpacket: permanently connected to each other. */
const CONNECTED_TYPES = [1, 5];
const FILE_KIND = 0xf000;
/** Unspecified, regular file, pipe, socket: everything but devices. */
const PLAIN_KINDS = [0, 0x8000, 0x1000, 0xc000];
/** S_ISUID, S_ISGID. */
const SET_ID_BITS = 0o6000;
/** O_CREAT, and the bit of O_TMPFILE that is not O_DIRECTORY; the same on both architectures. */
const CREATING_FLAGS = 0o100 | 0o20000000;
