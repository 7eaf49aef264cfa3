import type { Transcript, TranscriptEntry } from "../transcript.ts";

/** A transcript that a test can truncate anywhere, as a crash would. */
export function createMemoryTranscript(from: readonly TranscriptEntry[] = []) {
  const entries = [...from];
  const transcript: Transcript = {
    read: () => Promise.resolve([...entries]),
    append: (entry) => {
      entries.push(JSON.parse(JSON.stringify(entry)) as TranscriptEntry);
      return Promise.resolve();
    },
  };
  return { transcript, entries };
}
