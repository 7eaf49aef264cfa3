import type { JsonObject } from "@narthex/contracts";
import type { BudgetAmounts } from "../budget/budget.ts";

/** What policy is told about one call. Absent where the tool has no such thing. */
export interface CallFacts {
  readonly inputDigest: Uint8Array;
  /** Of the session and what it works in. */
  readonly labels: readonly string[];
  /** Calls of the session before this one. */
  readonly calls: number;
  /** The session's logical clock. */
  readonly time_ms: number;
  /** What is left, of each dimension that has a limit. */
  readonly budget: BudgetAmounts;
  readonly path?: string;
  readonly writes?: boolean;
  readonly host?: string;
  readonly port?: number;
  readonly sends?: boolean;
  readonly programs?: readonly string[];
  readonly tables?: readonly string[];
  /** What the tool says about its arguments. */
  readonly derived?: JsonObject;
}

/** The same as it is stored: of every question, under `call`. */
export type StoredCallFacts = Omit<CallFacts, "inputDigest" | "labels"> & { readonly input_digest: string };

/** What all calls of one tool in one session have in common; stored under `form`. */
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
