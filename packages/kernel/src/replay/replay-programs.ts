import { createBlake3, toHex } from "@narthex/contracts";
import type { ExceededBound, RunningProgram } from "../sandboxed-programs.ts";
import { createStreamRedactor } from "../result/redact.ts";
import type { PrintedOutput, ProgramAccess, ProgramRequest, Redactor, Tool } from "../tool/tool.ts";
import type { ReplayPorts } from "./replay-ports.ts";

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const MAX_HEAD_BYTES = 1024 * 1024;

/**
 * Replays the programs of a tool that declares no effects.
 *
 * SECURITY: whatever the record says, the sandbox has no workspace, no network and no second process.
 */
export function createReplayPrograms(
  { redactors = [] }: Pick<Tool, "redactors">,
  { driver, emptyDirectory }: NonNullable<ReplayPorts["programs"]>,
  { sessionId, timeoutMs, signal }: { sessionId: string; timeoutMs: number; signal: AbortSignal },
): ProgramAccess {
  return {
    async run(request) {
      const place = {
        sessionId,
        workspace: emptyDirectory,
        access: "none",
        mayFork: false,
        keepsProtected: false,
      } as const;
      const program = await driver.start(place, { ...request, workingDirectory: ".", hasHome: false }, signal);
      let late: ExceededBound | undefined;
      const end = (exceeded: ExceededBound): void => {
        late ??= exceeded;
        program.kill();
      };
      const allowed = Math.min(timeoutMs, request.timeoutMs ?? timeoutMs);
      const timer = setTimeout(() => end({ limit: "wall clock", allowed, peak: allowed }), allowed);
      try {
        const [stdout, stderr, , ended] = await Promise.all([
          gather(program, "stdout", request, redactors, end),
          gather(program, "stderr", request, redactors, end),
          feed(program, request.input),
          program.ended,
        ]);
        return { exitCode: ended.exitCode, stdout, stderr, exceeded: late ?? ended.exceeded };
      } finally {
        clearTimeout(timer);
        program.kill();
      }
    },
  };
}

async function feed(program: RunningProgram, input: ProgramRequest["input"]): Promise<void> {
  if (input instanceof Uint8Array) await program.write(input);
  else if (input !== undefined) for await (const chunk of input) await program.write(chunk);
  program.endInput();
}

async function gather(
  program: RunningProgram,
  name: "stdout" | "stderr",
  { maxOutputBytes = MAX_OUTPUT_BYTES, onPrinted }: ProgramRequest,
  redactors: readonly Redactor[],
  end: (exceeded: ExceededBound) => void,
): Promise<PrintedOutput> {
  const redactor = createStreamRedactor(redactors);
  const hasher = createBlake3();
  const head: Uint8Array[] = [];
  let [read, size, held] = [0, 0, 0];
  const take = (chunk: Uint8Array): void => {
    if (chunk.length === 0) return;
    onPrinted?.(name, chunk);
    hasher.update(chunk);
    size += chunk.length;
    const part = Buffer.from(chunk.subarray(0, MAX_HEAD_BYTES - held));
    held += part.length;
    if (part.length > 0) head.push(part);
  };
  for await (const chunk of program[name]) {
    const room = maxOutputBytes - read;
    read += chunk.length;
    if (room > 0) take(redactor.push(chunk.subarray(0, room)));
    if (read > maxOutputBytes) end({ limit: "output", allowed: maxOutputBytes, peak: read });
  }
  take(redactor.end());
  return { hash: toHex(hasher.digest()), size, head: Buffer.concat(head) };
}
