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

/** What a kernel is made from. */
export interface KernelOptions {
  readonly store: Store;
  readonly contentStore: ContentStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: Policy;
  /** Where the policy is read again from; without it, it stays as it was given. */
  readonly policySource?: PolicySource | undefined;
  /** Whether what rules refuse is carried out; `enforce` by default. */
  readonly policyMode?: PolicyMode;
  readonly tools: readonly Tool[];
  /** Says from the start on which tools are not any more what was registered: they are quarantined. */
  watchTools?(report: (change: ToolChange) => void): void;
  /** Without it, tools that work on files cannot run. */
  readonly files?: WorkspaceFiles | undefined;
  /** Without it, tools that run programs cannot run. */
  readonly programs?: SandboxedPrograms | undefined;
  /** Without it, there are no shell commands. */
  readonly shells?: SessionShells | undefined;
  /** Without it, nothing can be copied out of a vault. */
  readonly vault?: Vault | undefined;
  /** Without it, nothing leaves the machine. */
  readonly egress?: EgressGate | undefined;
  /** What the gate adds to requests of programs, by tool: no program holds a credential. */
  readonly egressCredentials?: ReadonlyMap<string, readonly EgressCredential[]>;
  /** Secrets that the gate holds: what inputs can name. */
  readonly secretNames?: ReadonlySet<string>;
  /** Take secrets out of whatever any tool answers, and out of everything that is stored. */
  readonly redactors?: readonly Redactor[];
  /** 32 bytes that only this home's kernels know: what redacted inputs are told apart by. Random by default. */
  readonly redactionKey?: Uint8Array;
  /** Without it, no page of the web can be read. */
  readonly pages?: PageReader | undefined;
  /** Without it, no module can run. */
  readonly wasm?: WasmRunner | undefined;
  readonly approver?: Approver | undefined;
  /** Without it, nobody can answer by a rule. */
  readonly rules?: PolicyRules | undefined;
  readonly observer?: Observer | undefined;
  readonly logger?: Logger | undefined;
  /** Paths in a workspace that only a rule for `write_protected` lets an agent change. */
  readonly protectedPaths?: readonly string[];
  /** Without it, paths are protected by their names alone. */
  readonly trustedPaths?: TrustedPaths | undefined;
  /** Paths in a workspace whose readers carry the label `secret` from then on. */
  readonly secretPaths?: readonly string[];
  /** What a person types to run the command line, in messages that ask for it; `narthex` by default. */
  readonly commandName?: string;
  /** The version that KernelStarted names. */
  readonly version: string;
  /** Finds out, once, what this host enforces: before the first session, or call that rests on it. */
  examineHost?(): Promise<HostExamination>;
  /** Looks at a workspace on this machine: its real path, or a WORKSPACE_REFUSED. */
  resolveWorkspace?(workspace: string): Promise<string>;
  /** Makes a workspace one that tools can change, if somebody asks for it: true if it had to. A WORKSPACE_REFUSED says why not. */
  adoptWorkspace?(workspace: string): Promise<boolean>;
  /** Copies all that this kernel keeps, while it is in use. */
  copyHome?(copying: HomeCopyOptions): Promise<HomeCopy>;
  /** Called once, if the store fails: the kernel has stopped. */
  onFailure?(failure: Error): void;
  /** Where the Merkle log of the ledger is kept. Without it nothing is signed. */
  readonly merkle?: MerklePorts | undefined;
  readonly settings?: Partial<KernelSettings>;
}

/** A tool whose definition is another one now. */
export interface ToolChange {
  readonly name: string;
  readonly version: string;
  /** Of the definition that was found instead; empty if there is none. */
  readonly foundHash: Uint8Array;
}

/** `observe`: decisions are made and recorded, and what rules refuse goes on all the same. */
export type PolicyMode = "enforce" | "observe";

/** What a host enforces. */
export interface HostExamination {
  readonly level: string;
  /** JSON text. */
  readonly envelope: string;
  /** Whether a tool can run safely here. Without it, all can. */
  stateOf?(tool: ToolDeclaration): ToolReadiness;
}

/** Whether a tool can run; where it cannot, or only in part, why, and what to do. */
export interface ToolReadiness {
  readonly state: "ready" | "degraded" | "disabled";
  /** Empty if it is ready. */
  readonly reason: string;
}

export interface KernelSettings {
  readonly budgets: BudgetLimits;
  /** What one session may store with all that are split off it, whatever their leases say. */
  readonly maxStoredBytes: number;
  /** Hosts that sessions may ask which are opened without rights of their own. */
  readonly hosts: readonly HostPattern[];
  readonly sessionTtlMs: number;
  readonly approvalExpiryMs: number;
  readonly approvalWaitMs: number;
  /** At most so much of a result is shown to a model, whatever its tool declares. */
  readonly viewBytes: number;
  /** So many containment violations within so long a time quarantine a session. */
  readonly quarantine: ViolationWindowOptions;
  readonly checkpoints: CheckpointSettings;
  readonly retention: Retention;
  /** How often what nobody needs is erased; 0 is never. */
  readonly retentionEveryMs: number;
}
