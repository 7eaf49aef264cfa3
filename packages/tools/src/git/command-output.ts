/** Output of a command that is used internally and not shown to the caller. */
export interface CommandOutput {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

const MAX_STDERR_BYTES = 4096;

export function toCommandOutput(exitCode: number, stdout: Uint8Array, stderr: Uint8Array): CommandOutput {
  return { exitCode, stdout, stderr: new TextDecoder().decode(stderr.subarray(0, MAX_STDERR_BYTES)) };
}
