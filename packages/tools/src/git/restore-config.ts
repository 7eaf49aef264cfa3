import { KernelError } from "@narthex/contracts";
import type { UnexpectedChange } from "./unexpected-changes.ts";
import type { GitRunner } from "./git-runner.ts";

/**
 * Restores configuration keys to their earlier values. Always throws, because the operation changed what it must not.
 */
export async function restoreConfig(
  git: GitRunner,
  changes: readonly UnexpectedChange[],
  place: { readonly workingDirectory: string; readonly repositories: readonly string[] },
): Promise<never> {
  const { workingDirectory, repositories } = place;
  const options = { workingDirectory, writes: { git: "configurable", repositories } } as const;
  const names = changes.map(({ key }) => `\`${key.slice(0, 120)}\``).join(", ");
  for (const { key, before, isThere } of changes) {
    const edits = [
      ...(isThere ? [["--unset-all", key]] : []),
      ...before.map((value) => ["--add", key, value ?? "true"]),
    ];
    for (const edit of edits) {
      const { exitCode } = await git.capture(["config", "--local", ...edit], options);
      if (exitCode === 0) continue;
      throw new KernelError(
        "PROTECTION_FAILED",
        `git changed ${names} in its configuration, and it could not be put back`,
      );
    }
  }
  throw new KernelError(
    "UNDECLARED_EFFECT",
    `git changed ${names} in its configuration, and it was put back. Everything else it did stands`,
  );
}
