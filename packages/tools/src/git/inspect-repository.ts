import { KernelError } from "@narthex/contracts";
import { type ConfigEntry, readRepositoryConfig } from "./config-entries.ts";
import { CONFIG_LISTING, OWN_CONFIG_LISTING } from "./dangerous-config.ts";
import { type FoundRepository, noRepository, parseRepository, LOCATE_ARGUMENTS } from "./find-repository.ts";
import { GIT_OPERATION_FACTS, type GitOperationName } from "./git-operations.ts";
import type { GitRunner } from "./git-runner.ts";
import { toSandboxPath } from "./sandbox-path.ts";
import { LIST_MODULES, LIST_SUBMODULES } from "./list-submodules.ts";
import { probeOutputFile, probeGit } from "./git-probe.ts";
import type { CommandOutput } from "./command-output.ts";
import { quotedAll } from "./shell-words.ts";

/** What an operation must know about a repository before it starts. */
export interface RepositoryInspection {
  readonly repository: FoundRepository;
  /** The listing of its whole configuration. */
  readonly listing: Uint8Array;
  /** Undefined for an operation that only reads: such operations are told to ignore submodules. */
  readonly submodules: SubmoduleConfig | undefined;
  /** The repository's own configuration, if the operation may write it. */
  readonly own: readonly ConfigEntry[] | undefined;
  /** The todo list of a rebase in progress, if the operation may continue it. */
  readonly todo: Uint8Array | undefined;
}

export interface SubmoduleConfig {
  /** The content of `.gitmodules`, as a configuration listing. */
  readonly modules: Uint8Array;
  /** The configuration of all submodules that are checked out. */
  readonly listing: Uint8Array;
}

const IN_WORKING_TREE = `cd "$(head -n 1 ${probeOutputFile("where")})" || exit 1\n`;
const SHOW_TODO = `cat -- "$(sed -n 4p ${probeOutputFile("where")})"`;

export async function inspectRepository(
  git: GitRunner,
  operation: GitOperationName,
  workingDirectory: string,
): Promise<RepositoryInspection> {
  const { readOnly, writesConfig } = GIT_OPERATION_FACTS[operation];
  const gitHere = [...git.prefix.argv, "-C", toSandboxPath(workingDirectory)];
  const looked = await probeGit(git, {
    where: quotedAll([...gitHere, ...LOCATE_ARGUMENTS]),
    listing: quotedAll([...gitHere, ...CONFIG_LISTING]),
    own: writesConfig ? quotedAll([...gitHere, ...OWN_CONFIG_LISTING]) : undefined,
    modules: readOnly ? undefined : IN_WORKING_TREE + LIST_MODULES,
    submodules: readOnly ? undefined : IN_WORKING_TREE + LIST_SUBMODULES,
    todo: operation === "REBASE" ? SHOW_TODO : undefined,
  });
  // First, so that a missing repository is reported as such.
  const repository = parseRepository(looked.where, workingDirectory);
  const listed = (answer: CommandOutput): Uint8Array => {
    if (answer.exitCode === 0) return answer.stdout;
    throw noRepository(answer, workingDirectory);
  };
  return {
    repository,
    listing: listed(looked.listing),
    own: looked.own && readRepositoryConfig(listed(looked.own)),
    submodules: submodulesOf(looked.modules, looked.submodules),
    todo: looked.todo?.exitCode === 0 ? looked.todo.stdout : undefined,
  };
}

function submodulesOf(
  modules: CommandOutput | undefined,
  submodules: CommandOutput | undefined,
): SubmoduleConfig | undefined {
  if (modules === undefined || submodules === undefined) return undefined;
  if (modules.exitCode === 0 && submodules.exitCode === 0) {
    return { modules: modules.stdout, listing: submodules.stdout };
  }
  throw new KernelError("EXECUTION_FAILED", "the submodules could not be looked at");
}
