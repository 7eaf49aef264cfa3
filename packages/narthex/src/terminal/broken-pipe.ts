/** Whether a write failed because the other end of the pipe was closed, as by `| head -1`. */
export function isBrokenPipe(error: Error): boolean {
  return "code" in error && (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED");
}
