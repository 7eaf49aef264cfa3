import type { JsonObject } from "@narthex/contracts";
import type { BudgetAmounts } from "../budget/budget.ts";

/** The facts about one call in a policy request. Optional facts are absent where they do not apply to the tool. */
export interface CallFacts {
  readonly inputDigest: Uint8Array;
  /** Labels of the session and of its workspace. */
  readonly labels: readonly string[];
  /** Number of earlier calls in the session. */
  readonly calls: number;
  /** The session's logical clock. */
  readonly time_ms: number;
  /** The remaining amount of each budget dimension that has a limit. */
  readonly budget: BudgetAmounts;
  readonly path?: string;
  readonly writes?: boolean;
  readonly host?: string;
  readonly port?: number;
  readonly sends?: boolean;
  readonly programs?: readonly string[];
  readonly tables?: readonly string[];
  /** The facts that the tool derives from its arguments. */
  readonly derived?: JsonObject;
}

/** The facts in their stored form; stored with every request, under `call`. */
export type StoredCallFacts = Omit<CallFacts, "inputDigest" | "labels"> & { readonly input_digest: string };

/** The facts that all calls of one tool in one session share; stored under `form`. */
export type StoredTemplate = {
  readonly action: string;
  readonly agent: string;
  readonly definition_hash: string;
  readonly determinism: string;
  readonly directory: string;
  readonly effects: readonly string[];
  readonly isolation: string;
  readonly labels: readonly string[];
  readonly session: string;
  readonly source: string;
  readonly tenant: string;
  readonly tier: string;
  readonly tool: string;
  readonly user: string;
  readonly version: string;
  readonly workspace: string;
};
