import { KernelError } from "@narthex/contracts";
import { type ConfigEntry, entriesOf } from "./config-entries.ts";
import { CONFIG_LISTING, OWN_CONFIG_LISTING } from "./dangerous-config.ts";
import { type FoundRepository, noRepository, repositoryOf, WHERE_IS_IT } from "./find-repository.ts";
import { GIT_OPERATION_FACTS, type GitOperationName } from "./git-operations.ts";
import type { GitRunner } from "./git-runner.ts";
import { insidePath } from "./inside-path.ts";
import { LIST_MODULES, LIST_SUBMODULES } from "./list-submodules.ts";
import { answerFile, lookAtOnce } from "./look-at-once.ts";
import type { Looked } from "./looked.ts";
import { quotedAll } from "./shell-words.ts";

/** What has to be known of a repository before an operation starts in it. */
export interface RepositoryLook {
  readonly repository: FoundRepository;
  /** Its whole configuration, as it was listed. */
  readonly listing: Uint8Array;
  /** Undefined for an operation that only reads: it is told to stay out of submodules. */
  readonly submodules: SubmoduleLook | undefined;
  /** Its own configuration, if the operation may write it. */
  readonly own: readonly ConfigEntry[] | undefined;
  /** The list of a rebase that is under way, if the operation may go on with it. */
  readonly todo: Uint8Array | undefined;
}

export interface SubmoduleLook {
  /** What `.gitmodules` says, as a listing of configuration. */
  readonly modules: Uint8Array;
  /** The configuration of all that are checked out. */
  readonly listing: Uint8Array;
}

const IN_WORKING_TREE = `cd "$(head -n 1 ${answerFile("where")})" || exit 1\n`;
const SHOW_TODO = `cat -- "$(sed -n 4p ${answerFile("where")})"`;

export async function lookAtRepository(
  git: GitRunner,
  operation: GitOperationName,
  workingDirectory: string,
): Promise<RepositoryLook> {
  const { readOnly, writesConfig } = GIT_OPERATION_FACTS[operation];
  const gitHere = [...git.prefix.argv, "-C", insidePath(workingDirectory)];
  const looked = await lookAtOnce(git, {
    where: quotedAll([...gitHere, ...WHERE_IS_IT]),
    listing: quotedAll([...gitHere, ...CONFIG_LISTING]),
    own: writesConfig ? quotedAll([...gitHere, ...OWN_CONFIG_LISTING]) : undefined,
    modules: readOnly ? undefined : IN_WORKING_TREE + LIST_MODULES,
    submodules: readOnly ? undefined : IN_WORKING_TREE + LIST_SUBMODULES,
    todo: operation === "REBASE" ? SHOW_TODO : undefined,
  });
  // Where there is no repository, that is what is said.
  const repository = repositoryOf(looked.where, workingDirectory);
  const listed = (answer: Looked): Uint8Array => {
    if (answer.exitCode === 0) return answer.stdout;
    throw noRepository(answer, workingDirectory);
  };
  return {
    repository,
    listing: listed(looked.listing),
    own: looked.own && entriesOf(listed(looked.own)),
    submodules: submodulesOf(looked.modules, looked.submodules),
    todo: looked.todo?.exitCode === 0 ? looked.todo.stdout : undefined,
  };
}

function submodulesOf(modules: Looked | undefined, submodules: Looked | undefined): SubmoduleLook | undefined {
  if (modules === undefined || submodules === undefined) return undefined;
  if (modules.exitCode === 0 && submodules.exitCode === 0) {
    return { modules: modules.stdout, listing: submodules.stdout };
  }
  throw new KernelError("EXECUTION_FAILED", "the submodules could not be looked at");
}
