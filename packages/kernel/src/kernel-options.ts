import type { ContainedPrograms } from "./contained-programs.ts";
import type { BudgetLimits } from "./budget/budget.ts";
import type { Approver, Clock, ContentStore, Log, Observer, Policy, Random, Store } from "./ports.ts";
import type { ViolationWindowOptions } from "./session/violation-window.ts";
import type { Tool } from "./tool/tool.ts";
import type { WorkspaceFiles } from "./workspace-files.ts";

/** What a kernel is made from. */
export interface KernelOptions {
  readonly store: Store;
  readonly contentStore: ContentStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: Policy;
  readonly tools: readonly Tool[];
  /** Without it, tools that work on files cannot run. */
  readonly files?: WorkspaceFiles | undefined;
  /** Without it, tools that run programs cannot run. */
  readonly programs?: ContainedPrograms | undefined;
  readonly approver?: Approver | undefined;
  readonly observer?: Observer | undefined;
  readonly log?: Log | undefined;
  /** Paths in a workspace that only a rule for `write_protected` lets an agent change. */
  readonly protectedPaths?: readonly string[];
  /** The version that KernelStarted names. */
  readonly version: string;
  /** Finds out, once, what this host enforces: before the first session, or call that rests on it. */
  examineHost?(): Promise<HostExamination>;
  /** Looks at a workspace on this machine: its real path, or a WORKSPACE_REFUSED. */
  resolveWorkspace?(workspace: string): Promise<string>;
  /** Called once, if the store fails: the kernel has stopped. */
  onFailure?(failure: Error): void;
  readonly settings?: Partial<KernelSettings>;
}

/** What a host enforces. */
export interface HostExamination {
  readonly level: string;
  /** JSON text. */
  readonly envelope: string;
}

export interface KernelSettings {
  readonly budgets: BudgetLimits;
  readonly sessionTtlMs: number;
  readonly approvalExpiryMs: number;
  readonly approvalWaitMs: number;
  /** At most so much of a result is shown to a model, whatever its tool declares. */
  readonly viewBytes: number;
  /** So many containment violations within so long a time quarantine a session. */
  readonly quarantine: ViolationWindowOptions;
}
