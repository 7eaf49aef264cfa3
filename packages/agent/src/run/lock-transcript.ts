import { KernelError } from "@narthex/contracts";
import type { Transcript } from "./transcript.ts";

const held = new WeakSet<Transcript>();

/**
 * Reserves a transcript for one run, and returns the function that releases it. Two runs at once would write a
 * transcript that neither could resume.
 */
export function lockTranscript(transcript: Transcript | undefined): () => void {
  if (transcript === undefined) return () => undefined;
  if (held.has(transcript))
    throw new KernelError("INVALID_REQUEST", "the transcript is in use: it takes one run at a time");
  held.add(transcript);
  return () => void held.delete(transcript);
}
