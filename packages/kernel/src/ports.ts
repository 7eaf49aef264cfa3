/** What the kernel asks of the machine it runs on. Everything here is behind an interface; drivers live elsewhere. */

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
  /** Never goes back; only differences mean anything. */
  monotonicMs(): number;
}

export interface Random {
  /** Bytes nobody can predict. The caller owns the array. */
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
  /** Written by the store itself: digests of erased items, until nothing is left of them anywhere. */
  | "erasing";

/** One ledger record and everything that becomes durable with it, or not at all. */
export interface StoreWrite {
  readonly index: number;
  readonly chain: string;
  readonly sequence: number;
  /** What the record is found by; empty where it must not be, even if the record itself names a request. */
  readonly requestId: string;
  readonly hash: Uint8Array;
  /** An encoded `Record`. */
  readonly record: Uint8Array;
  /** Ties the record's commitments to content; bytes of at most 64 KB lie here. */
  readonly content: readonly ContentDraft[];
  readonly state: readonly StateChange[];
  /** Items of earlier records that are tombstones from then on. */
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
  /** The next record's global index. */
  readonly nextIndex: number;
  readonly lastWallTimeMs: number;
}

/** Where the bytes of a digest lie, and who holds a reference to them. */
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
  /** Ascending by index, from `from` on; `newest` gives the last `limit` instead, still ascending. */
  readRecords(query: RecordQuery): Promise<StoredRecord[]>;
  /** The newest record carrying this request id in this chain. */
  findRequest(chain: string, requestId: string): Promise<number | undefined>;
  /** Every request id of a chain, oldest first, at most `limit`. Throws STORE_UNAVAILABLE if a record of it is lost. */
  listRequestIds(chain: string, limit: number): Promise<string[]>;
  /** Holdings of a digest; with `chain`, only that chain's. At most 100. */
  findContent(digest: Uint8Array, chain?: string): Promise<ContentHolding[]>;
  /** Holdings that rest on bytes of another record, and artifacts'; at most 100. */
  findReferences(digest: Uint8Array): Promise<ContentHolding[]>;
  /** Records from `from` on whose content has one of these byte strings in it: a part of the ledger at a time. */
  findMentions(needles: readonly Uint8Array[], from: number): Promise<Mentions>;
  getState(table: StateTable, key: string): Promise<Uint8Array | undefined>;
  /** Ascending by key, keys that start with `prefix`; with `after`, only those beyond it. */
  listState(table: StateTable, prefix: string, limit: number, after?: string): Promise<StateRow[]>;
  /** Has the index find nothing any more under these digests that was erased. */
  forgetErased(digests: readonly Uint8Array[]): Promise<void>;
  /**
   * Ends the erasing of these digests: takes their rows away, and with `scrub` looks at every byte of the store's files
   * until neither they nor these other byte strings are left in any of them.
   */
  endErasing(digests: readonly Uint8Array[], scrub: readonly Uint8Array[] | undefined): Promise<void>;
  close(): Promise<void>;
}

export interface Mentions {
  readonly records: readonly number[];
  /** Where to go on; undefined at the end. */
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
   * Brings the tiles to so many records, durably. Throws LOG_CONTRADICTS, and changes no tile that is there, unless the
   * tiles give the root of `from`, which was signed before, and say what the records say.
   */
  grow(from: TreeHead | undefined, size: number): Promise<TreeHead>;
  /** The audit path of a record in the tree of a size that it was grown to. */
  proveInclusion(index: number, size: number): Promise<Uint8Array[]>;
  proveConsistency(from: number, to: number): Promise<Uint8Array[]>;
}

/** What a ledger is kept in: records with their state, the tree over the records, and a way to copy both. */
export interface LedgerStore extends Store {
  readonly tree: MerkleTree;
  /** Copies records and state, as of one moment, into a new file. Appends go on meanwhile. */
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
   * The key with this public half; without one, the key at hand, which is made if there is none. Throws
   * LOG_KEY_UNUSABLE if it is not there, is damaged, or was within reach of others.
   */
  open(publicKey: Uint8Array | undefined): Promise<Signer>;
  /** A new key to follow the present one. It is the present one as soon as it is opened by its public half. */
  prepareNext(): Promise<Signer>;
  /** The same where the present one is lost: whatever is in its place is put aside. */
  prepareAfterLoss(): Promise<Signer>;
}

/** What everybody may see of a log. */
export interface MerklePublication {
  /** The newest checkpoint that was published, as it is found. */
  readCheckpoint(): Promise<string | undefined>;
  writeCheckpoint(note: string): Promise<void>;
  /** The announcement of the n-th key, from 0, if it is not there; and the key in use. */
  writeKey(number: number, note: string, verifierKey: string): Promise<void>;
}

/** Content too large for a record's row, by its BLAKE3 hash. */
export interface ContentStore {
  /** Bytes become visible under their hash only through `commit`. */
  openWriter(): Promise<ContentWriter>;
  /** Undefined if absent. The size is that of the stored file. */
  stat(digest: Uint8Array): Promise<{ readonly size: number } | undefined>;
  /** Streams a slice. Re-hashes on a whole read and throws a `ContentDamagedError` on a difference. */
  read(digest: Uint8Array, offset: number, limit: number): AsyncIterable<Uint8Array>;
  remove(digest: Uint8Array): Promise<void>;
}

export interface ContentWriter {
  write(chunk: Uint8Array): Promise<void>;
  /** Durable when it resolves. */
  commit(): Promise<{ readonly digest: Uint8Array; readonly size: number }>;
  /** Leaves nothing behind. Harmless after `commit`. */
  abort(): Promise<void>;
}

/** Decides calls. */
export interface Policy {
  /** The set in force, or why there is none. */
  readonly current: PolicySet | PolicyProblem;
  evaluate(request: PolicyRequest): PolicyEvaluation;
  /** Whether any rule could permit this action, whatever the rest. */
  couldPermit(action: string): boolean;
  /** The part of an input that rules about this action can see. Throws where what they rely on is not there. */
  visibleInput(action: string, input: JsonValue): JsonObject;
  /** What each rule has to say about a request, for people. */
  explain(request: PolicyRequest): Promise<readonly RuleFinding[]>;
}

/** Where policy comes from. */
export interface PolicySource {
  /** For people: where its files lie. */
  readonly directory: string;
  /** Reads and checks it anew. Throws POLICY_INVALID with every problem. */
  load(): Promise<Policy>;
  /**
   * The same for a set with one file more or less than this one.
   *
   * SECURITY: what else lies in the directory by now is somebody's draft until an administrator reloads it.
   */
  loadChanged(set: Uint8Array, change: PolicyChange): Promise<Policy>;
  /**
   * This set and some rules besides, for a kernel with one more tool. Loads that come later know the tool and the rules once
   * `keep` was called.
   */
  loadWithTool(set: Uint8Array, tool: Tool, rules: readonly PolicyFile[]): Promise<PolicyCandidate>;
  /** The reverse of it: this set without the rules that came with the tool, for a kernel without it. */
  loadWithoutTool(set: Uint8Array, tool: Tool): Promise<PolicyCandidate>;
}

export interface PolicyCandidate {
  readonly policy: Policy;
  commit(): void;
}

/** One file of a policy set, by its name. */
export interface PolicyChange {
  readonly add?: { readonly name: string; readonly text: string };
  readonly remove?: string;
}

export interface PolicyProblem {
  readonly problem: string;
}

/** A program's own way to ask a person, beside the other doors: the first answer counts. */
export interface Approver {
  /** Shown in the ledger as the door that answered. */
  readonly door: string;
  /** Resolves with the answer; a rejection denies. The signal aborts when the answer is no longer wanted. */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision>;
}

/** Where rules that people gave as an answer are written. */
export interface PolicyRules {
  /** Resolves when a policy with this rule is in force; else rejects and leaves everything as it was. */
  addRule(id: string, text: string): Promise<void>;
  /** Whether such a rule was written and is still there. */
  hasRule(id: string): Promise<boolean>;
  /** The same for a policy without it; harmless if there is none. */
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
  /** The caller's span, as it came. */
  readonly traceParent: string | undefined;
  /** How it ended; undefined before `reply`. */
  readonly outcome: CallOutcome | undefined;
}

export interface CallOutcome {
  readonly status: "success" | "denied" | "error";
  /** Why, unless it succeeded. */
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

/** Diagnostics for the operator. Never given tokens, inputs or results. */
export interface Logger {
  (level: "debug" | "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, unknown>>): void;
}
