import { isKernelError, KernelError } from "@narthex/contracts";
import type { ToolContext } from "@narthex/kernel";
import { type ProgramAnswer, programAnswer } from "../programs/program-answer.ts";
import type { CheckedGit } from "./check-git.ts";
import { cloneRequest } from "./clone-request.ts";
import { type ConfigEntry, entriesOf } from "./config-entries.ts";
import { CONFIG_LISTING, type DangerousConfig, dangerousConfig, OWN_CONFIG_LISTING } from "./dangerous-config.ts";
import { type FoundRepository, findRepository, noRepository } from "./find-repository.ts";
import { GIT_OPERATION_FACTS, type GitOperationName } from "./git-operations.ts";
import { GitRunner } from "./git-runner.ts";
import { insidePath } from "./inside-path.ts";
import { lookAtRepository, type RepositoryLook } from "./look-at-repository.ts";
import { type OtherSide, otherSide } from "./other-side.ts";
import { putBackConfig } from "./put-back-config.ts";
import { networkBlocked, refuseUnreachable } from "./refuse-unreachable.ts";
import { todoRunsPrograms } from "./todo-runs-programs.ts";
import { unexpectedChanges } from "./unexpected-changes.ts";

/** For commits in a repository that names nobody. */
const NOBODY: ReadonlyMap<string, string> = new Map([
  ["user.name", "Narthex agent"],
  ["user.email", "agent@narthex.invalid"],
]);
const OTHER_SIDES: ReadonlySet<GitOperationName> = new Set(["CLONE", "FETCH", "PULL", "PUSH"]);

/** Runs one operation of git: looks at the repository, makes its configuration harmless, runs, looks again. */
export function runGit(checked: ReachingGit, context: ToolContext, timeoutMs: number): Promise<ProgramAnswer> {
  const git = new GitRunner(context.programs, checked);
  const call = { checked, git, workspace: context.session.workspace, timeoutMs };
  return checked.operation === "CLONE" ? runClone(call) : runInRepository(call);
}

/** An operation, and whether hosts were named that it may ask. */
export type ReachingGit = CheckedGit & { readonly hasNetwork: boolean };

interface GitCall {
  readonly checked: ReachingGit;
  readonly git: GitRunner;
  readonly workspace: string;
  readonly timeoutMs: number;
}

async function runInRepository(call: GitCall): Promise<ProgramAnswer> {
  const { checked, git } = call;
  const { operation } = checked;
  const { repository, own: before, ...look } = await lookAtRepository(git, operation, checked.workingDirectory);
  refusePrograms(look.todo);
  const config = harmless(operation, look);
  const entries = entriesOf(look.listing);
  const other = OTHER_SIDES.has(operation) ? await reach(call, entries, insidePath(repository.top)) : undefined;
  const performing = perform(call, { config, other, entries, argv: checked.argv, repository });
  if (before === undefined) return await performing;
  // Also where it failed: it may have come far.
  const [performed] = await Promise.allSettled([performing]);
  await keepConfig(call, before, await listOwn(git, checked.workingDirectory), repository);
  if (performed.status === "rejected") throw performed.reason;
  return performed.value;
}

async function runClone(call: GitCall): Promise<ProgramAnswer> {
  const { checked, git } = call;
  const { target, source, argv } = cloneRequest(checked);
  const directory = insidePath(checked.workingDirectory);
  refuseUnreachable(source, { directory, workspace: call.workspace }, checked.hasNetwork);
  const listing = await listConfig(git, checked.workingDirectory);
  const config = refuseDangerous(dangerousConfig(listing, "CLONE"));
  // Of the surrounding repository, if there is one, a clone takes nothing.
  const other = await reach(call, [], directory);
  // Its own files are no business of the guards before they are there: what is protected in it comes from the source.
  const answer = await perform(call, { config, other, entries: [], argv, repository: undefined });
  const parts = [checked.workingDirectory, target].filter((part) => part !== ".");
  await guardClone(call, parts.join("/") || ".", answer);
  return answer;
}

/** From now on nothing but git changes the clone's configuration and hooks. */
async function guardClone(call: GitCall, target: string, { exit_code: exitCode }: ProgramAnswer): Promise<void> {
  const { git } = call;
  const repository = await findRepository(git, target).catch((fault: unknown) => {
    // A bare clone, or none.
    if (isKernelError(fault) && fault.code !== "SANDBOX_ERROR") return undefined;
    throw fault;
  });
  // Where nothing was made, this is the repository that the directory lies in.
  if (repository?.top !== target) return;
  const made = await listOwn(git, target, repository.repositories);
  // A clone that failed may have found another in its place, with a configuration of its own.
  if (exitCode === 0) await keepConfig(call, [], made, repository);
}

interface Performance {
  readonly config: DangerousConfig;
  readonly other: OtherSide | undefined;
  /** Of the repository's configuration. */
  readonly entries: readonly ConfigEntry[];
  readonly argv: readonly string[];
  readonly repository: FoundRepository | undefined;
}

async function perform({ git, checked, timeoutMs }: GitCall, parts: Performance): Promise<ProgramAnswer> {
  const { config, other, entries, argv, repository } = parts;
  const { readOnly, writesConfig } = GIT_OPERATION_FACTS[checked.operation];
  const [command = "", ...rest] = argv;
  const identity = [...NOBODY].filter(([key]) => !entries.some((entry) => entry.key === key));
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
  return programAnswer(result);
}

async function listConfig(git: GitRunner, workingDirectory: string): Promise<Uint8Array> {
  const looked = await git.look(CONFIG_LISTING, { workingDirectory });
  if (looked.exitCode === 0) return looked.stdout;
  throw noRepository(looked, workingDirectory);
}

/** Of the repository's own file; where repositories are named, they are guarded from now on. */
async function listOwn(
  git: GitRunner,
  workingDirectory: string,
  repositories?: readonly string[],
): Promise<readonly ConfigEntry[]> {
  const writes = repositories && ({ git: "guarded", repositories } as const);
  const looked = await git.look(OWN_CONFIG_LISTING, { workingDirectory, ...(writes && { writes }) });
  if (looked.exitCode !== 0) throw noRepository(looked, workingDirectory);
  return entriesOf(looked.stdout);
}

function harmless(
  operation: GitOperationName,
  { listing, submodules }: Pick<RepositoryLook, "listing" | "submodules">,
): DangerousConfig {
  if (submodules === undefined) return refuseDangerous(dangerousConfig(listing, operation));
  const own = refuseDangerous(dangerousConfig(Buffer.concat([listing, submodules.modules]), operation));
  // Whatever is done here, in a submodule it is only looked.
  const inner = refuseDangerous(dangerousConfig(submodules.listing, "STATUS", "NARTHEX_GIT_SUBMODULE"));
  return { ...own, argv: [...inner.argv, ...own.argv], environment: { ...inner.environment, ...own.environment } };
}

function refuseDangerous(config: DangerousConfig): DangerousConfig {
  if (config.refusals.length === 0) return config;
  throw new KernelError("EXECUTION_FAILED", `nothing was run: the repository has ${config.refusals.join("; ")}`);
}

async function reach(
  { git, checked, workspace }: GitCall,
  entries: readonly ConfigEntry[],
  directory: string,
): Promise<OtherSide> {
  const { operation, operands } = checked;
  const [address] = operands;
  const isName = entries.some(({ key }) => address !== undefined && key.startsWith(`remote.${address}.`));
  if (address !== undefined && !isName) refuseUnreachable(address, { directory, workspace }, checked.hasNetwork);
  return await otherSide(git, operation, address === undefined ? [] : [address], { directory, workspace, entries });
}

/** SECURITY: a rebase that goes on runs what its list says, whoever wrote it. */
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
  if (changes.length > 0) await putBackConfig(git, changes, { workingDirectory: top, repositories });
}
