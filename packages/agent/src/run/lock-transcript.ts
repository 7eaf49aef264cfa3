import { KernelError } from "@narthex/contracts";
import type { Transcript } from "./transcript.ts";

const held = new WeakSet<Transcript>();

/** Takes a transcript for one run, and gives the way to let go of it. Two at once would write what neither could take up. */
export function lockTranscript(transcript: Transcript | undefined): () => void {
  if (transcript === undefined) return () => undefined;
  if (held.has(transcript))
    throw new KernelError("INVALID_REQUEST", "the transcript is in use: it takes one run at a time");
  held.add(transcript);
  return () => void held.delete(transcript);
}
