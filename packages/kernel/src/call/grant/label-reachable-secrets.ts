import type { KernelParts } from "../../kernel-parts.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { adoptLabels } from "../adopt-labels.ts";
import { SECRET } from "../../label/secret-label.ts";

/** Everything that can separate paths in a command. */
const BETWEEN_WORDS = /[\s'"`=:;,|&<>(){}[\]$]+/u;

/**
 * Labels a call before it starts a program whose reads are not known: a secret file that the command names, or that
 * lies in the directories around it, counts as read.
 *
 * SECURITY: there is no way to tell what a program has read. The directories around it are the root and every one down
 * to its working directory; deeper ones would have to be searched for every command.
 */
export async function labelReachableSecrets(
  call: PermittedCall,
  program: { readonly command: string; readonly directory: string },
  kernel: KernelParts,
): Promise<void> {
  const { live, effects, trail } = call;
  if (!effects.includes("fs_read") && !effects.includes("fs_write")) return;
  if (trail.labels.includes(SECRET) || live.labels.includes(SECRET)) return;
  const names = program.command.split(BETWEEN_WORDS).some(kernel.isSecret);
  if (!names && !(await hasSecretNearby(live.session.workspace, program.directory, kernel))) return;
  await adoptLabels(call, [SECRET], kernel);
}

async function hasSecretNearby(workspace: string, directory: string, kernel: KernelParts): Promise<boolean> {
  const paths = (await kernel.programs?.pathsAround(workspace, directory)) ?? [];
  return paths.some(kernel.isSecret);
}
