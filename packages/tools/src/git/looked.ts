/** What a command printed that nobody sees. */
export interface Looked {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

const MAX_STDERR_BYTES = 4096;

export function lookedOf(exitCode: number, stdout: Uint8Array, stderr: Uint8Array): Looked {
  return { exitCode, stdout, stderr: new TextDecoder().decode(stderr.subarray(0, MAX_STDERR_BYTES)) };
}
