import { isKernelError, KernelError } from "@narthex/contracts";
import type { ToolContext } from "@narthex/kernel";
import { type ProgramOutput, toProgramOutput } from "../programs/program-output.ts";
import type { CheckedGit } from "./check-git.ts";
import { cloneRequest } from "./clone-request.ts";
import { type ConfigEntry, readRepositoryConfig } from "./config-entries.ts";
import { CONFIG_LISTING, type DangerousConfig, dangerousConfig, OWN_CONFIG_LISTING } from "./dangerous-config.ts";
import { type FoundRepository, findRepository, noRepository } from "./find-repository.ts";
import { GIT_OPERATION_FACTS, type GitOperationName } from "./git-operations.ts";
import { GitRunner } from "./git-runner.ts";
import { toSandboxPath } from "./sandbox-path.ts";
import { inspectRepository, type RepositoryInspection } from "./inspect-repository.ts";
import { type RemoteHardening, hardenRemote } from "./harden-remote.ts";
import { restoreConfig } from "./restore-config.ts";
import { networkBlocked, refuseUnreachable } from "./refuse-unreachable.ts";
import { todoRunsPrograms } from "./todo-runs-programs.ts";
import { unexpectedChanges } from "./unexpected-changes.ts";

/** Author of commits in a repository that configures none. */
const FALLBACK_IDENTITY: ReadonlyMap<string, string> = new Map([
  ["user.name", "Narthex agent"],
  ["user.email", "agent@narthex.invalid"],
]);
const REMOTE_OPERATIONS: ReadonlySet<GitOperationName> = new Set(["CLONE", "FETCH", "PULL", "PUSH"]);

/**
 * Runs one git operation: inspects the repository, makes its configuration harmless, runs git, and checks the
 * configuration afterwards.
 */
export function runGit(checked: NetworkedGit, context: ToolContext, timeoutMs: number): Promise<ProgramOutput> {
  const git = new GitRunner(context.programs, checked);
  const call = { checked, git, workspace: context.session.workspace, timeoutMs };
  return checked.operation === "CLONE" ? runClone(call) : runInRepository(call);
}

/** An operation, and whether the caller named hosts that it may contact. */
export type NetworkedGit = CheckedGit & { readonly hasNetwork: boolean };

interface GitCall {
  readonly checked: NetworkedGit;
  readonly git: GitRunner;
  readonly workspace: string;
  readonly timeoutMs: number;
}

async function runInRepository(call: GitCall): Promise<ProgramOutput> {
  const { checked, git } = call;
  const { operation } = checked;
  const { repository, own: before, ...look } = await inspectRepository(git, operation, checked.workingDirectory);
  refusePrograms(look.todo);
  const config = neutralizeConfig(operation, look);
  const entries = readRepositoryConfig(look.listing);
  const other = REMOTE_OPERATIONS.has(operation)
    ? await prepareRemote(call, entries, toSandboxPath(repository.top))
    : undefined;
  const performing = perform(call, { config, other, entries, argv: checked.argv, repository });
  if (before === undefined) return await performing;
  // Also after a failure: the operation may have changed the configuration before it failed.
  const [performed] = await Promise.allSettled([performing]);
  await keepConfig(call, before, await listOwn(git, checked.workingDirectory), repository);
  if (performed.status === "rejected") throw performed.reason;
  return performed.value;
}

async function runClone(call: GitCall): Promise<ProgramOutput> {
  const { checked, git } = call;
  const { target, source, argv } = cloneRequest(checked);
  const directory = toSandboxPath(checked.workingDirectory);
  refuseUnreachable(source, { directory, workspace: call.workspace }, checked.hasNetwork);
  const listing = await listConfig(git, checked.workingDirectory);
  const config = refuseDangerous(dangerousConfig(listing, "CLONE"));
  // A clone uses nothing from a surrounding repository.
  const other = await prepareRemote(call, [], directory);
  // The clone's git files are not guarded before they exist: until then, what is protected in it comes from the source.
  const answer = await perform(call, { config, other, entries: [], argv, repository: undefined });
  const parts = [checked.workingDirectory, target].filter((part) => part !== ".");
  await guardClone(call, parts.join("/") || ".", answer);
  return answer;
}

/** From now on only git can change the clone's configuration and hooks. */
async function guardClone(call: GitCall, target: string, { exit_code: exitCode }: ProgramOutput): Promise<void> {
  const { git } = call;
  const repository = await findRepository(git, target).catch((fault: unknown) => {
    // A bare clone, or no repository.
    if (isKernelError(fault) && fault.code !== "SANDBOX_ERROR") return undefined;
    throw fault;
  });
  // If nothing was created, this is the repository that contains the directory.
  if (repository?.top !== target) return;
  const made = await listOwn(git, target, repository.repositories);
  // After a failed clone, the target may have been an existing repository with its own configuration.
  if (exitCode === 0) await keepConfig(call, [], made, repository);
}

interface OperationParts {
  readonly config: DangerousConfig;
  readonly other: RemoteHardening | undefined;
  /** Entries of the repository's configuration. */
  readonly entries: readonly ConfigEntry[];
  readonly argv: readonly string[];
  readonly repository: FoundRepository | undefined;
}

async function perform({ git, checked, timeoutMs }: GitCall, parts: OperationParts): Promise<ProgramOutput> {
  const { config, other, entries, argv, repository } = parts;
  const { readOnly, writesConfig } = GIT_OPERATION_FACTS[checked.operation];
  const [command = "", ...rest] = argv;
  const identity = [...FALLBACK_IDENTITY].filter(([key]) => !entries.some((entry) => entry.key === key));
  const result = await git.run({
    argv: [
      ...config.argv,
      ...(other?.argv ?? []),
      ...identity.flatMap(([key, value]) => ["-c", `${key}=${value}`]),
      command,
      ...(other?.options ?? []),
      ...rest,
    ],
    environment: { ...config.environment, ...other?.environment },
    readOnly,
    git: writesConfig ? "configurable" : "guarded",
    repositories: repository?.repositories ?? [],
    timeoutMs,
  });
  const refusedTransport = /^fatal: transport '(.{1,40})' not allowed$/m.exec(
    result.exitCode === 128 ? new TextDecoder().decode(result.stderr.head.subarray(0, 65_536)) : "",
  )?.[1];
  if (refusedTransport !== undefined) throw networkBlocked(refusedTransport);
  return toProgramOutput(result);
}

async function listConfig(git: GitRunner, workingDirectory: string): Promise<Uint8Array> {
  const looked = await git.capture(CONFIG_LISTING, { workingDirectory });
  if (looked.exitCode === 0) return looked.stdout;
  throw noRepository(looked, workingDirectory);
}

/** Lists the repository's own configuration file. If `repositories` is given, they are guarded from now on. */
async function listOwn(
  git: GitRunner,
  workingDirectory: string,
  repositories?: readonly string[],
): Promise<readonly ConfigEntry[]> {
  const writes = repositories && ({ git: "guarded", repositories } as const);
  const looked = await git.capture(OWN_CONFIG_LISTING, { workingDirectory, ...(writes && { writes }) });
  if (looked.exitCode !== 0) throw noRepository(looked, workingDirectory);
  return readRepositoryConfig(looked.stdout);
}

function neutralizeConfig(
  operation: GitOperationName,
  { listing, submodules }: Pick<RepositoryInspection, "listing" | "submodules">,
): DangerousConfig {
  if (submodules === undefined) return refuseDangerous(dangerousConfig(listing, operation));
  const own = refuseDangerous(dangerousConfig(Buffer.concat([listing, submodules.modules]), operation));
  // Whatever the operation, in submodules git only runs a status check.
  const inner = refuseDangerous(dangerousConfig(submodules.listing, "STATUS", "NARTHEX_GIT_SUBMODULE"));
  return { ...own, argv: [...inner.argv, ...own.argv], environment: { ...inner.environment, ...own.environment } };
}

function refuseDangerous(config: DangerousConfig): DangerousConfig {
  if (config.refusals.length === 0) return config;
  throw new KernelError("EXECUTION_FAILED", `nothing was run: the repository has ${config.refusals.join("; ")}`);
}

async function prepareRemote(
  { git, checked, workspace }: GitCall,
  entries: readonly ConfigEntry[],
  directory: string,
): Promise<RemoteHardening> {
  const { operation, operands } = checked;
  const [address] = operands;
  const isName = entries.some(({ key }) => address !== undefined && key.startsWith(`remote.${address}.`));
  if (address !== undefined && !isName) refuseUnreachable(address, { directory, workspace }, checked.hasNetwork);
  return await hardenRemote(git, operation, address === undefined ? [] : [address], { directory, workspace, entries });
}

/** SECURITY: continuing a rebase runs the commands of its todo list, which may come from an attacker. */
function refusePrograms(todo: Uint8Array | undefined): void {
  if (todo === undefined || !todoRunsPrograms(todo)) return;
  throw new KernelError(
    "EXECUTION_FAILED",
    "nothing was run: the list of the rebase that is under way has an `exec` line, which would run a program",
  );
}

async function keepConfig(
  { git, checked }: GitCall,
  before: readonly ConfigEntry[],
  after: readonly ConfigEntry[],
  { top, repositories }: FoundRepository,
): Promise<void> {
  const changes = unexpectedChanges(checked.operation, before, after);
  if (changes.length > 0) await restoreConfig(git, changes, { workingDirectory: top, repositories });
}
