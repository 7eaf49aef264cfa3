import { KernelError, toHex } from "@narthex/contracts";
import type { ProgramExit, ExceededBound, SandboxProfile, RunningProgram } from "../../sandboxed-programs.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { PrintedOutput, ProgramAccess, ProgramRequest, ProgramResult } from "../../tool/tool.ts";
import { chargeContent } from "../charge-stored.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { OutputCollector, type OutputPart } from "../output-collector.ts";
import { startWithEffect } from "../with-effect.ts";
import { type CpuShare, CpuTime } from "../cpu-time.ts";
import { mayUseNetwork, requireCallNetwork } from "./network-access.ts";
import { labelReachableSecrets } from "./label-reachable-secrets.ts";

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/**
 * Creates program access for one call.
 *
 * SECURITY: what a program may do follows from the call's effects, whatever its tool requests: without fs_write the
 * workspace is read-only, without process_spawn there is no second process.
 */
export function createProgramAccess(
  call: PermittedCall,
  guard: () => void,
  signal: () => AbortSignal,
  kernel: KernelParts,
): ProgramAccess {
  return {
    run(request) {
      guard();
      const running = runProgram(call, request, signal(), kernel);
      call.trail.trackProgram(running);
      return running;
    },
  };
}

async function runProgram(
  call: PermittedCall,
  request: ProgramRequest,
  signal: AbortSignal,
  kernel: KernelParts,
): Promise<ProgramResult> {
  requireProcess(call);
  if (kernel.programs === undefined) throw new KernelError("SANDBOX_UNAVAILABLE", "this kernel runs no programs");
  // Built-in tools themselves report what they read.
  if (call.registered.tool.source !== "builtin" && request.access !== "none") {
    const { command, workingDirectory: directory } = request;
    await labelReachableSecrets(call, { command: command.join(" "), directory }, kernel);
  }
  const { programs } = kernel;
  const share = startCpuShare(call, request.limits?.cpuMs);
  try {
    const start = async (network: Pick<SandboxProfile, "network">): Promise<ProgramResult> => {
      const place = { ...createSandboxProfile(call, request, share, kernel), ...network };
      const begin = (): Promise<RunningProgram> => programs.start(place, request, signal);
      const program = await (mayChange(place, request) ? startWithEffect(call.trail, begin) : begin());
      return await followProgram(call, request, program, share, kernel);
    };
    return await (request.hasNetwork === false ? start({}) : withNetwork(call, kernel, start));
  } finally {
    share.end();
  }
}

/** Whether a program can change anything that outlives it. */
function mayChange({ access, network }: SandboxProfile, { hasHome = false }: ProgramRequest): boolean {
  return access === "write" || network !== undefined || hasHome;
}

/** Runs a program, with a network proxy if the call may contact other hosts; the proxy is closed afterwards. */
export async function withNetwork<T>(
  call: PermittedCall,
  kernel: KernelParts,
  run: (network: Pick<SandboxProfile, "network">) => Promise<T>,
): Promise<T> {
  if (!mayUseNetwork(call)) return await run({});
  const leaving = requireCallNetwork(call, kernel);
  const network = await leaving.openProxy();
  try {
    const result = await run({ network });
    if (leaving.undeclared !== undefined) throw leaving.undeclared;
    return result;
  } finally {
    await network.close();
  }
}

/** Throws unless the call's tool is of the class that runs programs. */
export function requireProcess({ registered }: PermittedCall): void {
  const { id, tool } = registered;
  if (tool.isolation === "process") return;
  throw new KernelError(
    "UNDECLARED_EFFECT",
    `\`${id}\` is ${tool.isolation}: only tools of class process run programs`,
  );
}

/** A program's input, output and bounds. */
export type ProgramFollowing = Pick<
  ProgramRequest,
  "input" | "timeoutMs" | "maxOutputBytes" | "kept" | "isShown" | "onPrinted"
>;

/** Feeds a program and reads its output until it ends. */
export async function followProgram(
  call: PermittedCall,
  request: ProgramFollowing,
  program: RunningProgram,
  share: CpuShare,
  kernel: KernelParts,
): Promise<ProgramResult> {
  const { id } = call.registered;
  const bounds = new ProgramBounds(program, request);
  try {
    const [stdout, stderr] = [
      new Printed(call, request, "stdout", kernel),
      new Printed(call, request, "stderr", kernel),
    ];
    const reading = Promise.all([
      stdout.read(program.stdout, bounds),
      stderr.read(program.stderr, bounds),
      feed(program, request.input),
    ]);
    // An exhausted budget ends the program too.
    reading.catch(() => program.kill());
    const ended = await Promise.all([program.ended, reading]).then(
      ([end]) => end,
      async (fault: unknown) => {
        const [ended] = await Promise.allSettled([program.ended, reading]);
        if (ended.status === "fulfilled") share.end(ended.value.cpuMs);
        await Promise.all([stdout.abort(), stderr.abort()]);
        throw fault;
      },
    );
    share.end(ended.cpuMs);
    const kept = { stdout: await stdout.finish(), stderr: await stderr.finish() };
    refuseUndeclared(id, ended);
    return { exitCode: ended.exitCode, ...kept, exceeded: bounds.exceeded ?? findExceededBound(ended, share) };
  } finally {
    bounds.dispose();
  }
}

/** Creates the sandbox profile of a program: where it may work, and what it may use. */
export function createSandboxProfile(
  call: PermittedCall,
  request: Pick<ProgramRequest, "access">,
  { allowance }: CpuShare,
  kernel: KernelParts,
): SandboxProfile {
  const { effects, live, trail } = call;
  const granted = effects.includes("fs_write") ? "write" : effects.includes("fs_read") ? "read" : "none";
  const access = granted === "none" ? "none" : (request.access ?? granted);
  return {
    sessionId: live.id,
    ...(trail.programsIntentKey !== undefined && { call: trail.programsIntentKey }),
    workspace: live.session.workspace,
    access,
    mayFork: effects.includes("process_spawn"),
    keepsProtected: access === "write" && !kernel.mayChangeProtected(call, kernel),
    ...(allowance !== undefined && { cpu: allowance }),
  };
}

/** Starts a program's share of the call's CPU time. Throws RESOURCE_EXCEEDED if nothing is left. */
export function startCpuShare({ trail, live, maxCpuMs }: PermittedCall, askedMs?: number): CpuShare {
  const isLimited = live.lease.budgets.cpu_ms !== undefined;
  // SECURITY: under a budget only what the call has reserved can be used.
  const allowedMs = isLimited ? (trail.reservation?.amounts.cpu_ms ?? 0) : (maxCpuMs ?? Number.POSITIVE_INFINITY);
  trail.cpuTime ??= new CpuTime(allowedMs);
  return trail.cpuTime.start(askedMs);
}

async function feed(program: RunningProgram, input: ProgramRequest["input"]): Promise<void> {
  if (input instanceof Uint8Array) await program.write(input);
  else if (input !== undefined) for await (const chunk of input) await program.write(chunk);
  program.endInput();
}

/**
 * Corrects an exceeded CPU bound: the operating system counts in whole seconds, and the call may have been allowed
 * less.
 */
function findExceededBound({ exceeded, cpuMs }: ProgramExit, { allowance }: CpuShare): ExceededBound | undefined {
  if (exceeded?.limit !== "cpu" || allowance === undefined) return exceeded;
  const allowed = Math.min(exceeded.allowed, allowance.limitMs);
  return { limit: "cpu", allowed, peak: Math.max(exceeded.peak, cpuMs) };
}

function refuseUndeclared(tool: string, { putBack, triedToFork = false }: ProgramExit): void {
  if (triedToFork) {
    throw new KernelError(
      "UNDECLARED_EFFECT",
      `\`${tool}\` did not declare the effect \`process_spawn\`, and was ended when it started a second process`,
    );
  }
  if (putBack.length === 0) return;
  const paths = putBack.map((path) => `\`${path}\``).join(", ");
  throw new KernelError(
    "UNDECLARED_EFFECT",
    `\`${tool}\` changed what is protected, and it was put back: ${paths}. Everything else it did stands`,
  );
}

/** Time and output bounds of one program. */
class ProgramBounds {
  exceeded: ExceededBound | undefined;
  readonly maxOutputBytes: number;
  readonly #program: RunningProgram;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(program: RunningProgram, { timeoutMs, maxOutputBytes = MAX_OUTPUT_BYTES }: ProgramFollowing) {
    this.#program = program;
    this.maxOutputBytes = maxOutputBytes;
    if (timeoutMs === undefined) return;
    this.#timer = setTimeout(() => this.end({ limit: "wall clock", allowed: timeoutMs, peak: timeoutMs }), timeoutMs);
  }

  end(exceeded: ExceededBound): void {
    this.exceeded ??= exceeded;
    this.#program.kill();
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }
}

/** One output stream of a program: redacts, shows and keeps it. */
class Printed {
  readonly #call: PermittedCall;
  readonly #isShown: boolean;
  readonly #isKept: boolean;
  readonly #onPrinted: ((chunk: Uint8Array) => void) | undefined;
  readonly #collector: OutputCollector;

  constructor(call: PermittedCall, request: ProgramFollowing, name: "stdout" | "stderr", kernel: KernelParts) {
    this.#call = call;
    this.#isShown = request.isShown ?? true;
    this.#isKept = request.kept?.includes(name) ?? true;
    this.#onPrinted = request.onPrinted && ((chunk) => request.onPrinted?.(name, chunk));
    const charge = (bytes: number): void => {
      if (this.#isKept) chargeContent(call, bytes);
    };
    this.#collector = new OutputCollector(call, charge, kernel);
  }

  async read(stream: AsyncIterable<Uint8Array>, bounds: ProgramBounds): Promise<void> {
    const collector = this.#collector;
    let size = 0;
    for await (const chunk of stream) {
      const room = bounds.maxOutputBytes - size;
      size += chunk.length;
      if (room > 0) await this.#take(collector.push(chunk.subarray(0, room)));
      if (size > bounds.maxOutputBytes) bounds.end({ limit: "output", allowed: bounds.maxOutputBytes, peak: size });
    }
    await this.#take(collector.end());
  }

  async finish(): Promise<PrintedOutput> {
    const { stored, returned } = await this.#collector.finish();
    const { digest, size, head, tail } = returned;
    if (this.#isKept && size > 0) this.#call.trail.outputs.push(stored);
    return { hash: toHex(digest), size, head, tail };
  }

  abort(): Promise<void> {
    return this.#collector.abort();
  }

  async #take(part: OutputPart): Promise<void> {
    const { returned: chunk, stored = chunk } = part;
    if (chunk.length + stored.length === 0) return;
    if (chunk.length > 0) this.#onPrinted?.(chunk);
    // Output that the tool receives as it arrives, and that is not kept, need not be written to disk.
    if (this.#isKept || this.#onPrinted === undefined) await this.#collector.store(part);
    if (this.#isShown && chunk.length > 0) await this.#call.incoming.trail.stream(chunk, this.#call.incoming.onChunk);
  }
}
