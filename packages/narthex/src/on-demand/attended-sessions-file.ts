import { readFile } from "node:fs/promises";
import { writePrivateFile } from "@narthex/host";

/** Stores the sessions that end with their clients, for the next kernel of the home. */
export interface AttendedSessionsFile {
  /** Returns the sessions of the previous kernel. */
  read(): Promise<readonly string[]>;
  /** Writes one list after the other; if several are waiting, only the last. */
  write(sessionIds: readonly string[]): void;
  /** Resolves when the last list is written. */
  flush(): Promise<void>;
}

const SESSION_ID = /^ses_[a-z2-7]{20}$/;

export function openAttendedSessionsFile(path: string): AttendedSessionsFile {
  let next: readonly string[] | undefined;
  let writing: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    while (next !== undefined) {
      const sessionIds = next;
      next = undefined;
      // A failure is harmless: a missing session ends by its time limit.
      await writePrivateFile(path, JSON.stringify(sessionIds)).catch(() => undefined);
    }
    writing = undefined;
  }

  return {
    async read() {
      try {
        const value: unknown = JSON.parse(await readFile(path, "utf8"));
        if (!Array.isArray(value)) return [];
        return value.filter((id): id is string => typeof id === "string" && SESSION_ID.test(id));
      } catch {
        return [];
      }
    },
    write(sessionIds) {
      next = sessionIds;
      writing ??= writeAll();
    },
    flush: async () => await writing,
  };
}
