import type { Logger } from "../ports.ts";
import type { WorkspaceFiles } from "../workspace-files.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import type { PlacedFiles } from "./placed-files.ts";
import { MAX_SEARCHED_BYTES, vaultRedactor } from "./vault-redactor.ts";

/** Maximum number of files read per workspace. */
const MAX_FILES = 64;

/**
 * Reads the files that the vault placed in a workspace before this kernel started, once per workspace. Programs can
 * print such files, so their content must be known to redact it from output. Undefined if there is nothing to wait for.
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
      // A file that is missing or unreadable cannot be printed either.
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

  // Files placed after the start are learned when they are placed.
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
