import type { Logger } from "../ports.ts";
import type { WorkspaceFiles } from "../workspace-files.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import type { PlacedFiles } from "./placed-files.ts";
import { MAX_SEARCHED_BYTES, vaultRedactor } from "./vault-redactor.ts";

/** More of one workspace are not read again. */
const MAX_FILES = 64;

/**
 * Reads, once in a kernel's life, what the vault placed in a workspace before it started: programs print such files, and
 * what they print is searched for it. Undefined if there is nothing to wait for.
 */
export type LearnPlacedFiles = (workspace: string) => Promise<void> | undefined;

export function createPlacedFilesLearner(
  placed: PlacedFiles,
  secrets: KnownSecrets,
  files: WorkspaceFiles | undefined,
  log: Logger,
): LearnPlacedFiles {
  const learned = new Map<string, Promise<void> | "done">();

  async function learnAll(workspace: string, paths: readonly string[]): Promise<void> {
    for (const path of paths.slice(0, MAX_FILES)) {
      // A file that is gone, or cannot be read, cannot be printed either.
      await learn(workspace, path).catch((fault: unknown) => {
        log("debug", "a file of the vault was not read again", { workspace, cause: String(fault) });
      });
    }
    learned.set(workspace, "done");
  }

  async function learn(workspace: string, path: string): Promise<void> {
    const operation = { kind: "read", path, offset: 0, limit: MAX_SEARCHED_BYTES } as const;
    const prepared = await files?.prepare({ workspace, access: "read" }, operation, new AbortController().signal);
    const answer = await prepared?.commit();
    if (answer?.kind !== "read") return;
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.content) chunks.push(Buffer.from(chunk));
    const redactor = vaultRedactor(Buffer.concat(chunks));
    if (redactor !== undefined) secrets.learn(redactor);
  }

  // What is placed from now on is learned as it is placed.
  if (placed.isEmpty) return () => undefined;
  return (workspace) => {
    const known = learned.get(workspace);
    if (known !== undefined) return known === "done" ? undefined : known;
    const paths = placed.in(workspace);
    const learning = paths.length === 0 ? "done" : learnAll(workspace, paths);
    learned.set(workspace, learning);
    return learning === "done" ? undefined : learning;
  };
}
