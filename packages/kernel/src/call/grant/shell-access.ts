import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { SessionShells, ShellJob } from "../../session-shells.ts";
import type { ShellAccess, ShellRequest, ShellResult } from "../../tool/tool.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { followProgram, placeFor, requireProcess } from "./program-access.ts";

/** Says that what carries it was made bare on the host. */
const HOST_LABEL = "host";

/** The shell as one call may use it. Jobs are the session's: they outlive the call, and no other session reaches them. */
export function shellFor(
  call: PermittedCall,
  guard: () => void,
  signal: () => AbortSignal,
  kernel: KernelParts,
): ShellAccess {
  async function open(): Promise<SessionShells> {
    guard();
    requireProcess(call);
    const { shells } = kernel;
    if (shells === undefined) throw new KernelError("SANDBOX_UNAVAILABLE", "this kernel runs no shell commands");
    // INVARIANT: the label is there before anything of the call runs bare, so every outcome of it carries the label.
    if ((await shells.backend()) === "host") call.trail.addLabels([HOST_LABEL]);
    guard();
    return shells;
  }

  async function run(request: ShellRequest): Promise<ShellResult> {
    requireSpawn(call);
    const shells = await open();
    const program = await shells.run(placeFor(call, {}, kernel), request, signal());
    const { timeoutMs } = request;
    const result = await followProgram(call, { timeoutMs }, program, kernel);
    return { ...result, notes: (await program.ended).notes };
  }

  return {
    run(request) {
      const running = run(request);
      call.trail.followProgram(running);
      return running;
    },
    async spawn(job): Promise<ShellJob> {
      requireSpawn(call);
      const shells = await open();
      return await shells.spawn(placeFor(call, {}, kernel), job, signal());
    },
    job: async (jobId) => (await open()).job(call.live.id, jobId),
  };
}

/** SECURITY: a command starts processes, so only a call with leave for that has one. */
function requireSpawn({ registered, effects }: PermittedCall): void {
  if (effects.includes("process_spawn")) return;
  throw new KernelError("UNDECLARED_EFFECT", `\`${registered.id}\` did not declare the effect \`process_spawn\``);
}
