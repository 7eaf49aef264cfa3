import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { JobCommand, SessionShells, ShellJob } from "../../session-shells.ts";
import type { ShellAccess, ShellRequest, ShellResult } from "../../tool/tool.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { takeOnLabels } from "../take-on-labels.ts";
import { requireAnyEffect, startWithEffect } from "../with-effect.ts";
import { followProgram, placeFor, requireProcess, shareFor, withNetwork } from "./program-access.ts";
import { takeOnSecretsInReach } from "./secrets-in-reach.ts";

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
    if ((await shells.backend()) === "host") await takeOnLabels(call, [HOST_LABEL], kernel);
    guard();
    return shells;
  }

  async function run(request: ShellRequest): Promise<ShellResult> {
    requireSpawn(call);
    const shells = await open();
    const { command, workingDirectory, startDirectory } = request;
    await takeOnSecretsInReach(call, { command, directory: workingDirectory ?? startDirectory }, kernel);
    guard();
    const share = shareFor(call);
    try {
      return await withNetwork(call, kernel, async (network) => {
        const place = { ...placeFor(call, {}, share, kernel), ...network };
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
    await takeOnSecretsInReach(call, { command, directory }, kernel);
    guard();
    const share = shareFor(call);
    try {
      const place = placeFor(call, {}, share, kernel);
      const job = await startWithEffect(call.trail, () => shells.spawn(place, request, signal()));
      share.leave();
      call.trail.lasting ??= [];
      call.trail.lasting.push({ limitMs: share.allowance?.limitMs, ended: job.ended });
      return job;
    } finally {
      share.end();
    }
  }

  return {
    run(request) {
      const running = run(request);
      call.trail.followProgram(running);
      return running;
    },
    spawn(job) {
      const starting = spawn(job);
      call.trail.followProgram(starting);
      return starting;
    },
    async job(jobId) {
      requireAnyEffect(call.trail);
      const job = (await open()).job(call.live.id, jobId);
      // What is done with it, only the tool knows.
      call.trail.beginEffect();
      // SECURITY: a job goes on reading in the workspace, whatever this very call is about.
      if (call.trail.workspaceUse === "none") call.trail.workspaceUse = "read";
      await takeOnLabels(call, kernel.workspaceLabels.of(call.live.session.workspace), kernel);
      guard();
      return job;
    },
  };
}

/** SECURITY: a command starts processes, so only a call with leave for that has one. */
function requireSpawn({ registered, effects }: PermittedCall): void {
  if (effects.includes("process_spawn")) return;
  throw new KernelError("UNDECLARED_EFFECT", `\`${registered.id}\` did not declare the effect \`process_spawn\``);
}
