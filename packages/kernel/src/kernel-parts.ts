import type { SandboxedPrograms } from "./sandboxed-programs.ts";
import type { Capability, NetworkCapability } from "./capability/capability.ts";
import type { EgressCredential, EgressGate } from "./egress.ts";
import type { PageReader } from "./page-reader.ts";
import type { ProtectedPaths } from "./policy/protected-paths.ts";
import type { TrustedPaths } from "./trusted-paths.ts";
import type { SecretPaths } from "./call/grant/secret-paths.ts";
import type { DecidedCall } from "./call/call.ts";
import type { PermittedCall } from "./call/decide/decide.ts";
import type { Vault } from "./vault.ts";
import type { WorkspaceFiles } from "./workspace-files.ts";
import type { Approvals } from "./approval/approvals-api.ts";
import type { Artifacts } from "./artifact/artifacts.ts";
import type { ResponseArchive } from "./journal/response-archive.ts";
import type { UsedRequestIds } from "./journal/used-request-ids.ts";
import type { ContentUses } from "./erasure/content-uses.ts";
import type { ReadWriteLock } from "./erasure/read-write-lock.ts";
import type { TrackedContentStore } from "./erasure/tracked-content-store.ts";
import type { ExaminedHost } from "./host-examination.ts";
import type { PolicyMode } from "./kernel-options.ts";
import type { WorkspaceLabels } from "./label/workspace-labels.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { Checkpoints } from "./merkle/checkpoints.ts";
import type { Refusals } from "./ledger/refusals.ts";
import type { Clock, Logger, Observer, PolicySource, Random, Store } from "./ports.ts";
import type { ReloadablePolicy } from "./policy/reloadable-policy.ts";
import type { Registry } from "./registry/registry.ts";
import type { ContentLibrary } from "./result/content-library.ts";
import type { HeldContent } from "./result/held-content.ts";
import type { KnownSecrets } from "./secret/known-secrets.ts";
import type { LearnPlacedFiles } from "./secret/learn-placed-files.ts";
import type { PlacedFiles } from "./secret/placed-files.ts";
import type { SessionShells } from "./session-shells.ts";
import type { DescendantCheck } from "./session/descendant-check.ts";
import type { LeaseEndListeners } from "./session/lease-end-listeners.ts";
import type { SessionExpiry } from "./session/session-expiry.ts";
import type { SessionTable } from "./session/session-table.ts";
import type { ViolationWindowOptions } from "./session/violation-window.ts";
import type { ToolDeclaration } from "./tool/tool.ts";
import type { WasmRunner } from "./wasm/wasm-runner.ts";

/** The parts that the stages of a call use. */
export interface KernelParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly contentStore: TrackedContentStore;
  /** The same files, for the texts of rules and tools, which are not searched for secrets. */
  readonly publicStore: TrackedContentStore;
  /** Content that future records may reference. */
  readonly contentUses: ContentUses;
  /** Held exclusively by an erasure, and shared by work that needs the ledger to stay unchanged. */
  readonly erasureLock: ReadWriteLock;
  readonly policy: ReloadablePolicy;
  readonly policySource: PolicySource | undefined;
  readonly policyMode: PolicyMode;
  readonly observer: Observer | undefined;
  readonly logger: Logger;
  readonly ledger: Ledger;
  readonly refusals: Refusals;
  /** Undefined if no checkpoints are signed. */
  readonly checkpoints: Checkpoints | undefined;
  readonly registry: Registry;
  readonly sessions: SessionTable;
  readonly expiry: SessionExpiry;
  readonly leaseEndListeners: LeaseEndListeners;
  /** Names of tools that were registered while the kernel runs. */
  readonly runtimeTools: Set<string>;
  readonly usedRequestIds: UsedRequestIds;
  readonly responses: ResponseArchive;
  readonly approvals: Approvals;
  readonly content: ContentLibrary;
  readonly isDescendant: DescendantCheck;
  readonly artifacts: Artifacts;
  readonly workspaceLabels: WorkspaceLabels;
  /** Undefined if no sandbox is available. */
  readonly files: WorkspaceFiles | undefined;
  readonly programs: SandboxedPrograms | undefined;
  readonly shells: SessionShells | undefined;
  readonly vault: Vault | undefined;
  readonly egress: EgressGate | undefined;
  /** Credentials that the gate adds to requests of programs, by tool. */
  readonly egressCredentials: ReadonlyMap<string, readonly EgressCredential[]>;
  /** Maximum number of requests by the programs of one call. */
  readonly programRequests: number;
  readonly pages: PageReader | undefined;
  readonly wasm: WasmRunner | undefined;
  readonly secretNames: ReadonlySet<string>;
  /** Secrets that must not be stored in clear text. */
  readonly secrets: KnownSecrets;
  /** Content in memory that is recorded by its hash only. */
  readonly heldContent: HeldContent;
  readonly placedFiles: PlacedFiles;
  readonly learnPlaced: LearnPlacedFiles;
  readonly isProtected: ProtectedPaths;
  /** The command a person types to run the CLI. */
  readonly commandName: string;
  /** Undefined if paths are protected by their names only. */
  readonly trustedPaths: TrustedPaths | undefined;
  readonly isSecret: SecretPaths;
  readonly host: ExaminedHost;
  /** Undefined if workspaces cannot be made writable. */
  readonly adoptWorkspace: ((workspace: string) => Promise<boolean>) | undefined;
  /** Whether a rule lets the programs of this call change protected paths without an approval. */
  mayChangeProtected(call: DecidedCall, kernel: KernelParts): boolean;
  /** Decides on a call again with additional capabilities. Throws if it is refused. */
  redecide(call: PermittedCall, needed: readonly Capability[], kernel: KernelParts): void;
  /** Decides whether a call may also send requests to this host. Returns the reason if not, otherwise undefined. */
  decideHost(call: PermittedCall, right: NetworkCapability, kernel: KernelParts): string | undefined;
  /** Keys of intents that a person is settling right now. */
  readonly settlingIntents: Set<string>;
  readonly counters: Counters;
  /** Maximum part of a tool's result shown to a model. */
  viewBytesOf(tool: ToolDeclaration): number;
  readonly quarantine: ViolationWindowOptions;
  /** True once new calls are rejected. */
  closing(): boolean;
}

export interface Counters {
  /** Results that arrived after their call had its response, and were dropped. */
  lateResults: number;
  /** Number of calls and content uploads in progress; a closing kernel waits for them. */
  running: number;
}
