/**
 * Interfaces to everything outside the kernel: clock, random, storage, keys, policy, people and diagnostics. Their
 * drivers are in other packages.
 */

import type { JsonObject, JsonValue } from "@narthex/contracts";
import type { ContentDraft } from "./ledger/record-draft.ts";
import type { ApprovalDecision, ApprovalRequest } from "./approval/approval.ts";
import type { TreeHead } from "./merkle/checkpoint-note.ts";
import type { RuleFinding } from "./policy/explain.ts";
import type { PolicyEvaluation, PolicyRequest, PolicySet } from "./policy/policy.ts";
import type { PolicyFile } from "./policy/policy-file.ts";
import type { Tool } from "./tool/tool.ts";

export interface Clock {
  /** Wall time in ms since the epoch. */
  nowMs(): number;
  /** Never goes back; only differences are meaningful. */
  monotonicMs(): number;
}

export interface Random {
  /** Returns unpredictable bytes. The caller owns the array. */
  bytes(length: number): Uint8Array;
}

/** One row of a state table, replaced (or, without a value, removed) together with the record it belongs to. */
export interface StateChange {
  readonly table: StateTable;
  readonly key: string;
  readonly value: Uint8Array | undefined;
}

export type StateTable =
  | "sessions"
  | "leases"
  | "intents"
  | "artifacts"
  | "dedupe"
  | "tokens"
  | "meta"
  | "approvals"
  | "workspaces"
  /** Written by the store itself: digests of erased items, until no trace of them is left. */
  | "erasing";

/** One ledger record and everything that becomes durable with it, in one transaction. */
export interface StoreWrite {
  readonly index: number;
  readonly chain: string;
  readonly sequence: number;
  /** Id that finds the record; empty if it must not be found by one, even if the record itself names a request. */
  readonly requestId: string;
  readonly hash: Uint8Array;
  /** An encoded `Record`. */
  readonly record: Uint8Array;
  /** The content that the record's commitments refer to; bytes of at most 64 KB are stored here. */
  readonly content: readonly ContentDraft[];
  readonly state: readonly StateChange[];
  /** Items of earlier records that become tombstones. */
  readonly erasures?: readonly ErasedItem[] | undefined;
}

/** One content item, by its record and its position in that record's content. */
export interface ErasedItem {
  readonly recordIndex: number;
  readonly item: number;
}

export interface StoredRecord {
  readonly index: number;
  readonly chain: string;
  readonly sequence: number;
  readonly hash: Uint8Array;
  readonly record: Uint8Array;
  /** An encoded `RecordContent`. */
  readonly content: Uint8Array;
}

export interface ChainHead {
  readonly sequence: number;
  readonly hash: Uint8Array;
  readonly logicalTimeMs: number;
}

export interface StoreHead {
  /** Index of the next record. */
  readonly nextIndex: number;
  readonly lastWallTimeMs: number;
}

/** A reference to a digest: which record holds it, and where its bytes are stored. */
export interface ContentHolding {
  readonly chain: string;
  readonly recordIndex: number;
  /** Position in that record's content. */
  readonly item: number;
  /** A `ContentRole`. */
  readonly role: number;
  /** A `ContentPlace`. */
  readonly place: number;
  readonly size: number;
  readonly labels: readonly string[];
}

/**
 * The durable store of records, their small content, and state.
 *
 * INVARIANT: `append` resolves only when the write and every write before it are durable; writes become durable in the
 * order of the calls. After a failed append the store is broken for good: every later append rejects.
 */
export interface Store {
  head(): Promise<StoreHead>;
  chainHead(chain: string): Promise<ChainHead | undefined>;
  append(write: StoreWrite): Promise<void>;
  readRecord(index: number): Promise<StoredRecord | undefined>;
  /** Ascending by index, from `from` on; with `newest` the last `limit` records, still ascending. */
  readRecords(query: RecordQuery): Promise<StoredRecord[]>;
  /** Index of the newest record with this request id in this chain. */
  findRequest(chain: string, requestId: string): Promise<number | undefined>;
  /**
   * Every request id of a chain, oldest first, at most `limit`. Throws STORE_UNAVAILABLE if one of its records is lost.
   */
  listRequestIds(chain: string, limit: number): Promise<string[]>;
  /** Holdings of a digest; with `chain`, only that chain's. At most 100. */
  findContent(digest: Uint8Array, chain?: string): Promise<ContentHolding[]>;
  /** Holdings whose bytes are in another record, and those of artifacts; at most 100. */
  findReferences(digest: Uint8Array): Promise<ContentHolding[]>;
  /**
   * Indexes of records, from `from` on, whose content contains one of these byte strings; searches a part of the ledger
   * at a time.
   */
  findMentions(needles: readonly Uint8Array[], from: number): Promise<Mentions>;
  getState(table: StateTable, key: string): Promise<Uint8Array | undefined>;
  /** Rows whose key starts with `prefix`, ascending by key; with `after`, only those with a greater key. */
  listState(table: StateTable, prefix: string, limit: number, after?: string): Promise<StateRow[]>;
  /** Removes erased items from the index of these digests. */
  forgetErased(digests: readonly Uint8Array[]): Promise<void>;
  /**
   * Completes the erasure of these digests: removes their rows, and with `scrub` searches every byte of the store's
   * files until neither the digests nor these other byte strings are left in any of them.
   */
  endErasing(digests: readonly Uint8Array[], scrub: readonly Uint8Array[] | undefined): Promise<void>;
  close(): Promise<void>;
}

export interface Mentions {
  readonly records: readonly number[];
  /** Index to continue from; undefined at the end. */
  readonly next: number | undefined;
}

export interface RecordQuery {
  readonly from?: number;
  readonly limit: number;
  readonly chain?: string;
  readonly newest?: boolean;
}

export interface StateRow {
  readonly key: string;
  readonly value: Uint8Array;
}

/** The Merkle tree over a store's records, kept in tiles. SPEC: docs/formats/log.md. */
export interface MerkleTree {
  /**
   * Extends the tiles to this number of records, durably. Throws LOG_CONTRADICTS, and leaves existing tiles unchanged,
   * unless the tiles have the signed root of `from` and match the records.
   */
  grow(from: TreeHead | undefined, size: number): Promise<TreeHead>;
  /** The audit path of a record in the tree of a size to which it was grown before. */
  proveInclusion(index: number, size: number): Promise<Uint8Array[]>;
  proveConsistency(from: number, to: number): Promise<Uint8Array[]>;
}

/**
 * The storage of a ledger: records with their state, the merkle tree over the records, and a way to copy records and
 * state.
 */
export interface LedgerStore extends Store {
  readonly tree: MerkleTree;
  /** Copies records and state of one moment into a new file, while appends continue. */
  copyTo(target: string): Promise<void>;
}

/** One Ed25519 key. */
export interface Signer {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 64 bytes. */
  sign(text: Uint8Array): Promise<Uint8Array>;
}

/** The private keys that sign checkpoints. */
export interface SigningKeys {
  /**
   * Opens the key with this public key; without one the current key, which is created if none exists. Throws
   * LOG_KEY_UNUSABLE if the key is missing, damaged, or was accessible to others.
   */
  open(publicKey: Uint8Array | undefined): Promise<Signer>;
  /** Creates a key to replace the current one. It becomes the current one when it is opened by its public key. */
  prepareNext(): Promise<Signer>;
  /** Like `prepareNext`, if the current key is lost: a file in its place is set aside. */
  prepareAfterLoss(): Promise<Signer>;
}

/** The published files of a merkle tree. */
export interface MerklePublication {
  /** The newest published checkpoint, unverified. */
  readCheckpoint(): Promise<string | undefined>;
  writeCheckpoint(note: string): Promise<void>;
  /** Writes the announcement of the n-th key, counted from 0, unless it exists, and the current key. */
  writeKey(number: number, note: string, verifierKey: string): Promise<void>;
}

/** Content too large for a record's row, by its BLAKE3 hash. */
export interface ContentStore {
  /** Bytes become visible under their hash only through `commit`. */
  openWriter(): Promise<ContentWriter>;
  /** Undefined if absent. The size is that of the stored file. */
  stat(digest: Uint8Array): Promise<{ readonly size: number } | undefined>;
  /** Streams a slice. A read of the whole content is hashed, and throws a `ContentDamagedError` if the hash differs. */
  read(digest: Uint8Array, offset: number, limit: number): AsyncIterable<Uint8Array>;
  remove(digest: Uint8Array): Promise<void>;
}

export interface ContentWriter {
  write(chunk: Uint8Array): Promise<void>;
  /** Durable when it resolves. */
  commit(): Promise<{ readonly digest: Uint8Array; readonly size: number }>;
  /** Removes everything that was written. Has no effect after `commit`. */
  abort(): Promise<void>;
}

/** Decides calls. */
export interface Policy {
  /** The policy set in force, or why none is in force. */
  readonly current: PolicySet | PolicyProblem;
  evaluate(request: PolicyRequest): PolicyEvaluation;
  /** Whether any rule could permit this action, for whatever request. */
  couldPermit(action: string): boolean;
  /** The part of an input that rules about this action can read. Throws if a field that they require is missing. */
  visibleInput(action: string, input: JsonValue): JsonObject;
  /** Explains to people what each rule contributes to the decision on a request. */
  explain(request: PolicyRequest): Promise<readonly RuleFinding[]>;
}

/** Where the policy is loaded from. */
export interface PolicySource {
  /** Directory of the policy's files, shown to people. */
  readonly directory: string;
  /** Loads and validates the policy again. Throws POLICY_INVALID with every problem. */
  load(): Promise<Policy>;
  /**
   * Loads this set with one file added or removed.
   *
   * SECURITY: any other change in the directory is a draft until an administrator reloads the policy.
   */
  loadChanged(set: Uint8Array, change: PolicyChange): Promise<Policy>;
  /**
   * Loads this set with additional rules, for a kernel with one more tool. Later loads include the tool and the rules
   * once `commit` was called.
   */
  loadWithTool(set: Uint8Array, tool: Tool, rules: readonly PolicyFile[]): Promise<PolicyCandidate>;
  /** Loads this set without the rules that came with the tool, for a kernel without it. */
  loadWithoutTool(set: Uint8Array, tool: Tool): Promise<PolicyCandidate>;
}

export interface PolicyCandidate {
  readonly policy: Policy;
  commit(): void;
}

/** A change of one file of a policy set, by its name. */
export interface PolicyChange {
  readonly add?: { readonly name: string; readonly text: string };
  readonly remove?: string;
}

export interface PolicyProblem {
  readonly problem: string;
}

/** An embedding program's own way to ask a person, in addition to the other doors: the first decision counts. */
export interface Approver {
  /** Recorded in the ledger as the door of the decision. */
  readonly door: string;
  /** Resolves with the decision; a rejection denies. The signal aborts when the decision is no longer needed. */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision>;
}

/** Where rules that people create by approving are written. */
export interface PolicyRules {
  /** Resolves when a policy with this rule is in force; otherwise rejects and changes nothing. */
  addRule(id: string, text: string): Promise<void>;
  /** Whether such a rule was written and still exists. */
  hasRule(id: string): Promise<boolean>;
  /** Removes the rule from the policy; harmless if none exists. */
  removeRule(id: string): Promise<void>;
}

/** Called at every stage boundary, before the stage runs: tracing, fault injection. Must not throw. */
export interface Observer {
  stage(event: StageEvent): void;
}

export interface StageEvent {
  readonly stage: Stage | "done";
  /** The same object for every event of one call. */
  readonly call: object;
  readonly requestId: string;
  readonly sessionId: string | undefined;
  readonly toolName: string | undefined;
  readonly door: string;
  /** The caller's span, as received. */
  readonly traceParent: string | undefined;
  /** How the call ended; undefined before `reply`. */
  readonly outcome: CallOutcome | undefined;
}

export interface CallOutcome {
  readonly status: "success" | "denied" | "error";
  /** Code of the refusal or error; empty on success. */
  readonly code: string;
}

export const STAGES = [
  "admit",
  "bind",
  "check",
  "decide",
  "dedupe",
  "endorse",
  "grant",
  "invoke",
  "keep",
  "record",
  "reply",
] as const;
export type Stage = (typeof STAGES)[number];

/** Diagnostics for the operator. Never contains tokens, inputs or results. */
export interface Logger {
  (level: "debug" | "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, unknown>>): void;
}
