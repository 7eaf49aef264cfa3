import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { JobCommand, SessionShells, ShellJob } from "../../session-shells.ts";
import type { ShellAccess, ShellRequest, ShellResult } from "../../tool/tool.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { adoptLabels } from "../adopt-labels.ts";
import { requireAnyEffect, startWithEffect } from "../with-effect.ts";
import { followProgram, createSandboxProfile, requireProcess, startCpuShare, withNetwork } from "./program-access.ts";
import { labelReachableSecrets } from "./label-reachable-secrets.ts";

/** Label of everything that was made directly on the host, without a sandbox. */
const HOST_LABEL = "host";

/**
 * Creates shell access for one call. Jobs belong to the session: they outlive the call, and no other session can access
 * them.
 */
export function createShellAccess(
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
    // INVARIANT: the label is added before any command of the call runs without a sandbox, so every outcome of the call
    // carries it.
    if ((await shells.backend()) === "host") await adoptLabels(call, [HOST_LABEL], kernel);
    guard();
    return shells;
  }

  async function run(request: ShellRequest): Promise<ShellResult> {
    requireSpawn(call);
    const shells = await open();
    const { command, workingDirectory, startDirectory } = request;
    await labelReachableSecrets(call, { command, directory: workingDirectory ?? startDirectory }, kernel);
    guard();
    const share = startCpuShare(call);
    try {
      return await withNetwork(call, kernel, async (network) => {
        const place = { ...createSandboxProfile(call, {}, share, kernel), ...network };
        const program = await startWithEffect(call.trail, () => shells.run(place, request, signal()));
        const { timeoutMs } = request;
        const result = await followProgram(call, { timeoutMs }, program, share, kernel);
        return { ...result, notes: (await program.ended).notes };
      });
    } finally {
      share.end();
    }
  }

  async function spawn(request: JobCommand): Promise<ShellJob> {
    requireSpawn(call);
    requireAnyEffect(call.trail);
    const shells = await open();
    const { command, workingDirectory: directory } = request;
    await labelReachableSecrets(call, { command, directory }, kernel);
    guard();
    const share = startCpuShare(call);
    try {
      const place = createSandboxProfile(call, {}, share, kernel);
      const job = await startWithEffect(call.trail, () => shells.spawn(place, request, signal()));
      share.detach();
      call.trail.backgroundPrograms ??= [];
      call.trail.backgroundPrograms.push({ limitMs: share.allowance?.limitMs, ended: job.ended });
      return job;
    } finally {
      share.end();
    }
  }

  return {
    run(request) {
      const running = run(request);
      call.trail.trackProgram(running);
      return running;
    },
    spawn(job) {
      const starting = spawn(job);
      call.trail.trackProgram(starting);
      return starting;
    },
    async job(jobId) {
      requireAnyEffect(call.trail);
      const job = (await open()).job(call.live.id, jobId);
      // Only the tool knows what it does with the job, so it may have an effect.
      call.trail.beginEffect();
      // SECURITY: a job continues to read in the workspace, whatever this call itself is about.
      if (call.trail.workspaceUse === "none") call.trail.workspaceUse = "read";
      await adoptLabels(call, kernel.workspaceLabels.get(call.live.session.workspace), kernel);
      guard();
      return job;
    },
  };
}

/** SECURITY: a command starts processes, so the call needs the effect for that. */
function requireSpawn({ registered, effects }: PermittedCall): void {
  if (effects.includes("process_spawn")) return;
  throw new KernelError("UNDECLARED_EFFECT", `\`${registered.id}\` did not declare the effect \`process_spawn\``);
}
