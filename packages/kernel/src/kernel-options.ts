import type { CheckpointSettings } from "./merkle/checkpoints.ts";
import type { MerklePorts } from "./merkle/open-tree.ts";
import type { SandboxedPrograms } from "./sandboxed-programs.ts";
import type { EgressCredential, EgressGate } from "./egress.ts";
import type { PageReader } from "./page-reader.ts";
import type { BudgetLimits } from "./budget/budget.ts";
import type { HostPattern } from "./capability/capability.ts";
import type {
  Approver,
  Clock,
  ContentStore,
  Logger,
  Observer,
  Policy,
  PolicyRules,
  PolicySource,
  Random,
  Store,
} from "./ports.ts";
import type { HomeCopy, HomeCopyOptions } from "./restore/home-copy.ts";
import type { Retention } from "./erasure/erasure.ts";
import type { SessionShells } from "./session-shells.ts";
import type { ViolationWindowOptions } from "./session/violation-window.ts";
import type { Redactor, Tool, ToolDeclaration } from "./tool/tool.ts";
import type { TrustedPaths } from "./trusted-paths.ts";
import type { Vault } from "./vault.ts";
import type { WasmRunner } from "./wasm/wasm-runner.ts";
import type { WorkspaceFiles } from "./workspace-files.ts";

/** Everything needed to create a kernel. */
export interface KernelOptions {
  readonly store: Store;
  readonly contentStore: ContentStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: Policy;
  /** Source from which the policy is reloaded; if absent, the policy never changes. */
  readonly policySource?: PolicySource | undefined;
  /** Whether calls that rules refuse are blocked; `enforce` by default. */
  readonly policyMode?: PolicyMode;
  readonly tools: readonly Tool[];
  /**
   * Calls `report` for each tool whose definition no longer matches the registered one, from the start on: such tools
   * are quarantined.
   */
  watchTools?(report: (change: ToolChange) => void): void;
  /** If absent, tools that work on files cannot run. */
  readonly files?: WorkspaceFiles | undefined;
  /** If absent, tools that run programs cannot run. */
  readonly programs?: SandboxedPrograms | undefined;
  /** If absent, there are no shell commands. */
  readonly shells?: SessionShells | undefined;
  /** If absent, nothing can be copied out of a vault. */
  readonly vault?: Vault | undefined;
  /** If absent, no network requests are possible. */
  readonly egress?: EgressGate | undefined;
  /** Credentials that the gate adds to requests of programs, by tool: no program holds a credential. */
  readonly egressCredentials?: ReadonlyMap<string, readonly EgressCredential[]>;
  /** Names of secrets that the gate holds and that inputs can refer to. */
  readonly secretNames?: ReadonlySet<string>;
  /** Remove secrets from the output of every tool, and from everything that is stored. */
  readonly redactors?: readonly Redactor[];
  /** 32 bytes that only this home's kernels know, used to tell redacted inputs apart. Random by default. */
  readonly redactionKey?: Uint8Array;
  /** If absent, no web page can be read. */
  readonly pages?: PageReader | undefined;
  /** If absent, no module can run. */
  readonly wasm?: WasmRunner | undefined;
  readonly approver?: Approver | undefined;
  /** If absent, approvals cannot be given as rules. */
  readonly rules?: PolicyRules | undefined;
  readonly observer?: Observer | undefined;
  readonly logger?: Logger | undefined;
  /** Paths in a workspace that an agent may change only if a rule for `write_protected` permits it. */
  readonly protectedPaths?: readonly string[];
  /** If absent, paths are protected by their names alone. */
  readonly trustedPaths?: TrustedPaths | undefined;
  /** Paths in a workspace that give their readers the label `secret`. */
  readonly secretPaths?: readonly string[];
  /** The command a person types to run the CLI, used in messages; `narthex` by default. */
  readonly commandName?: string;
  /** The version recorded in KernelStarted. */
  readonly version: string;
  /** Examines once what this host enforces: before the first session, or before the first call that depends on it. */
  examineHost?(): Promise<HostExamination>;
  /** Resolves a workspace on this machine to its real path. Throws WORKSPACE_REFUSED. */
  resolveWorkspace?(workspace: string): Promise<string>;
  /**
   * Makes a workspace writable for tools, for a session that requests it; true if anything had to be changed. Throws
   * WORKSPACE_REFUSED with the reason.
   */
  adoptWorkspace?(workspace: string): Promise<boolean>;
  /** Copies everything that this kernel stores, while it is in use. */
  copyHome?(copying: HomeCopyOptions): Promise<HomeCopy>;
  /** Called once if the store fails: the kernel has stopped. */
  onFailure?(failure: Error): void;
  /** Storage of the ledger's merkle tree. If absent, no checkpoints are signed. */
  readonly merkle?: MerklePorts | undefined;
  readonly settings?: Partial<KernelSettings>;
}

/** A tool whose definition has changed. */
export interface ToolChange {
  readonly name: string;
  readonly version: string;
  /** Hash of the definition that was found instead; empty if none exists. */
  readonly foundHash: Uint8Array;
}

/** `observe`: decisions are made and recorded, but calls that rules refuse are carried out. */
export type PolicyMode = "enforce" | "observe";

/** What a host enforces. */
export interface HostExamination {
  readonly level: string;
  /** JSON text. */
  readonly envelope: string;
  /** Whether a tool can run safely on this host. If absent, all tools can. */
  stateOf?(tool: ToolDeclaration): ToolReadiness;
}

/** Whether a tool can run; if it cannot, or only in part, why, and what to do. */
export interface ToolReadiness {
  readonly state: "ready" | "degraded" | "disabled";
  /** Empty if the tool is ready. */
  readonly reason: string;
}

export interface KernelSettings {
  readonly budgets: BudgetLimits;
  /**
   * Maximum number of bytes that one session and all its child sessions may store together, whatever their leases
   * allow.
   */
  readonly maxStoredBytes: number;
  /** Hosts that sessions opened without explicit rights may send requests to. */
  readonly hosts: readonly HostPattern[];
  readonly sessionTtlMs: number;
  readonly approvalExpiryMs: number;
  readonly approvalWaitMs: number;
  /** Maximum part of a result shown to a model, whatever its tool declares. */
  readonly viewBytes: number;
  /** Number of containment violations within a period that quarantine a session. */
  readonly quarantine: ViolationWindowOptions;
  readonly checkpoints: CheckpointSettings;
  readonly retention: Retention;
  /** Interval between retention rounds; 0 means never. */
  readonly retentionEveryMs: number;
}
