import { HASH_SIZE } from "@narthex/contracts";
import type { DecodedRecord, EntryOf } from "../ledger-messages.ts";
import type { TreeFiles } from "../ledger-source.ts";
import type { ProblemList } from "../problem-list.ts";
import { SYSTEM_CHAIN } from "../system-chain.ts";
import { sameSlices, Slice, wholeSlice } from "../wire/slice.ts";
import { TileCheck } from "./check-tiles.ts";
import { type Checkpoint, checkpointNote, checkpointText, isSignedBy, parseCheckpoint } from "./checkpoint.ts";
import { KeyHistory } from "./key-history.ts";
import { isSigned, type VerifierKey } from "./verifier-key.ts";
import type { TreeReport } from "./tree-report.ts";
import { RecordWindow, WINDOW_RECORDS } from "./record-window.ts";
import type { VerifiedTree } from "./verified-tree.ts";
import { TILE_HASHES, TreeEdge } from "./tree-edge.ts";

export interface TreeCheckOptions {
  readonly trustedKey: VerifierKey | undefined;
  /** Checkpoints that were kept outside of the ledger. */
  readonly keptCheckpoints: readonly Checkpoint[];
  /** The newest checkpoint that the home publishes; `unreadable` if the file contains something else. */
  readonly publishedCheckpoint: Checkpoint | "unreadable" | undefined;
  readonly files: TreeFiles | undefined;
  /** The tree of an earlier run to continue from. */
  readonly before?: VerifiedTree | undefined;
  /** The tree of an earlier run that must be found again. */
  readonly seen?: SeenTree | undefined;
}

/** A tree as seen earlier, signed or not. */
export interface SeenTree {
  readonly size: number;
  readonly root: Uint8Array;
}

/** A tree from outside the ledger, compared when the ledger's tree reaches its size. */
interface ExpectedTree {
  readonly tree: SeenTree;
  readonly signed: Checkpoint | undefined;
  readonly from: "kept" | "shown" | "seen";
  reached: boolean;
}

/**
 * Checks the Merkle tree of the records: every checkpoint must be signed by the key that the ledger announces for it,
 * and have the root computed from the records, so that each one extends the one before. Tiles and external checkpoints
 * must agree.
 */
export class TreeCheck {
  readonly #problems: ProblemList;
  readonly #options: TreeCheckOptions;
  readonly #keys: KeyHistory;
  readonly #tiles: TileCheck | undefined;
  readonly #tree: TreeEdge;
  readonly #window = new RecordWindow();
  readonly #awaited: ExpectedTree[];
  /** Number of records in the tree and the window. */
  #records = 0;
  /** Records are missing, so nothing can be compared any more. */
  #broken = false;
  #leftOut = false;
  /** The first checkpoint whose root does not match the records (`to`), and the last size that matched (`from`). */
  #mismatch: { readonly from: number; readonly to: number } | undefined;
  /** The same for the newest checkpoint that the home publishes. */
  #shownOther: { readonly from: number; readonly to: number } | undefined;
  #agreedSize = 0;
  /** The size of the largest kept checkpoint that matches the records. */
  #keptSize = 0;
  #lastSize = 0;
  #firstKeyIndex = 0;
  #checkpoints = 0;
  #kept = 0;
  #provenSize = 0;
  #provenRoot: Uint8Array = new Uint8Array(0);
  #provenNote = "";

  constructor(problems: ProblemList, options: TreeCheckOptions) {
    this.#problems = problems;
    this.#options = options;
    this.#keys = new KeyHistory(options.trustedKey);
    this.#tiles = options.files && new TileCheck(options.files, problems);
    const shown = options.publishedCheckpoint === "unreadable" ? undefined : options.publishedCheckpoint;
    const shownSize = shown?.size ?? 0;
    this.#tree = new TreeEdge((tile) => {
      if ((tile.number + 1) * TILE_HASHES ** (tile.level + 1) <= shownSize) this.#tiles?.add(tile);
    });
    const kept = options.keptCheckpoints.map((checkpoint) => expectCheckpoint(checkpoint, "kept"));
    const own = shown === undefined ? [] : [expectCheckpoint(shown, "shown")];
    const seen = options.seen === undefined ? [] : [{ tree: options.seen, signed: undefined, ...UNSEEN }];
    this.#awaited = [...kept, ...own, ...seen].sort((left, right) => left.tree.size - right.tree.size);
    if (options.before !== undefined) this.#goOn(options.before);
  }

  /** The state for the next run to continue from, or why it cannot continue. Called before `finish`. */
  remember(): VerifiedTree | string {
    if (this.#broken) return "the log was left out";
    if (this.#provenSize === 0) return "no checkpoint proves anything yet: sign one with `narthex ledger checkpoint`";
    if (this.#tree.size !== this.#provenSize || this.#lastSize !== this.#provenSize) {
      return `more than ${WINDOW_RECORDS} records follow the last checkpoint`;
    }
    const kept = this.#awaited.filter(({ from, reached }) => from === "kept" && reached).map(({ tree }) => tree);
    const before = (this.#options.before?.kept ?? []).filter((known) => !kept.some((tree) => isSameTree(tree, known)));
    return {
      keys: [...this.#keys.announced],
      firstKeyIndex: this.#firstKeyIndex,
      note: this.#provenNote,
      size: this.#provenSize,
      root: this.#provenRoot,
      checkpoints: this.#checkpoints,
      edge: this.#tree.unfinishedTiles(),
      tail: this.#window.hashes(),
      kept: [...kept, ...before].slice(0, MAX_KEPT),
    };
  }

  /** Adds the stored hash of the next record. */
  add(hash: Slice): void {
    if (this.#broken) return;
    this.#window.push(hash);
    this.#records++;
    if (this.#window.isFull) this.#advance(this.#tree.size + 1);
  }

  /** Records or their hashes are missing from here on: later roots cannot be computed. */
  stop(): void {
    this.#broken = true;
  }

  skip(): void {
    this.#broken = true;
    this.#leftOut = true;
  }

  /** Checks the entries of a record about keys and checkpoints. Must be called before the record itself is added. */
  inspect(record: DecodedRecord): void {
    if (this.#leftOut) return;
    for (const { kind } of record.entries) {
      if (kind.case !== "checkpointSigned" && kind.case !== "logKeyAnnounced") continue;
      const wrong =
        record.chain !== SYSTEM_CHAIN || record.entries.length > 1
          ? "it is not alone in a record of the system's chain"
          : kind.case === "logKeyAnnounced"
            ? this.#announce(record, kind.value)
            : this.#checkpoint(record, kind.value);
      const code = kind.case === "logKeyAnnounced" ? "log_key_broken" : "checkpoint_broken";
      if (wrong !== undefined) this.#problems.add(code, record, `${WHAT[kind.case]} is not good: ${wrong}`);
    }
  }

  /** Waits for tiles, if any must be read. */
  settle(): Promise<void> | undefined {
    return this.#tiles?.isWaiting === true ? this.#tiles.settle() : undefined;
  }

  async finish(): Promise<void> {
    if (this.#leftOut) return;
    if (!this.#broken) this.#advance(this.#records);
    await this.#tiles?.settle();
    this.#reportMismatch();
    for (const each of this.#awaited) {
      if (each.signed !== undefined && !this.#isOwn(each.signed)) this.#reportForeign(each);
      if (!each.reached) this.#reportRolledBack(each);
    }
    const { trustedKey, publishedCheckpoint } = this.#options;
    if (publishedCheckpoint === "unreadable") {
      const place = { index: this.#agreedSize, chain: "" };
      this.#problems.add("log_contradicts", place, "what stands for the log's newest checkpoint is none");
    }
    const { lostTrust } = this.#keys;
    if (trustedKey !== undefined && !this.#keys.isTrusted && lostTrust !== undefined) {
      const what = "a key was begun here that the trusted one did not hand over to: it was said to be lost";
      this.#problems.add("log_key_lost", { index: lostTrust, chain: SYSTEM_CHAIN }, what);
    } else if (trustedKey !== undefined && !this.#keys.isTrusted) {
      const place = { index: this.#firstKeyIndex, chain: SYSTEM_CHAIN };
      const what = this.#keys.current === undefined ? "no key is announced" : "it is signed by other keys";
      this.#problems.add("log_key_untrusted", place, `nothing in the ledger leads to the trusted key: ${what}`);
    }
  }

  report(): TreeReport {
    return {
      origin: this.#keys.current?.name ?? "",
      verifierKey: this.#keys.current?.text ?? "",
      keyTrusted: this.#options.trustedKey !== undefined && this.#keys.isTrusted,
      keys: this.#keys.announced.length,
      ...this.#keys.losses,
      checkpoints: this.#checkpoints,
      provenSize: this.#provenSize,
      provenRoot: this.#provenRoot,
      keptCheckpoints: this.#kept,
      tiles: this.#tiles?.matched ?? 0,
      tilesMissing: this.#tiles?.missing ?? 0,
    };
  }

  #announce(record: DecodedRecord, announced: EntryOf<"logKeyAnnounced">): string | undefined {
    if (this.#keys.current === undefined) this.#firstKeyIndex = record.index;
    return this.#keys.announce(announced, this.#lastSize, record.index);
  }

  #checkpoint(record: DecodedRecord, signed: EntryOf<"checkpointSigned">): string | undefined {
    const size = signed.treeSize;
    const key = this.#keys.current;
    if (size > record.index) return `it covers ${size} records and stands at ${record.index}`;
    if (record.index - size > WINDOW_RECORDS) return "it looks back too far";
    if (size <= this.#lastSize) return "it covers no more than the one before it";
    if (signed.rootHash.length !== HASH_SIZE) return "its root is no hash";
    this.#lastSize = size;
    if (key === undefined) return "no key was announced before it";
    const root = signed.rootHash.view();
    const text = checkpointText({ origin: key.name, size, root });
    const signature = signed.signature.view();
    const isGood = signed.keyId === key.id && isSigned(key, text, signature);
    if (!isGood) this.#problems.add("checkpoint_signature", record, "the checkpoint is not signed by the log's key");
    if (this.#broken || size < this.#tree.size) return undefined;
    this.#advance(size);
    if (!sameSlices(wholeSlice(this.#tree.root()), signed.rootHash)) {
      this.#mismatch ??= { from: this.#agreedSize, to: size };
      return undefined;
    }
    this.#agreedSize = size;
    if (!isGood || !this.#keys.isTrusted) return undefined;
    this.#checkpoints++;
    this.#provenSize = size;
    this.#provenRoot = root.slice();
    this.#provenNote = checkpointNote(text, { name: key.name, keyId: key.id, signature });
    return undefined;
  }

  /** Adds records to the tree, and compares it at every size of an expected tree. */
  #advance(size: number): void {
    for (const each of this.#awaited) {
      if (each.reached || each.tree.size > size) continue;
      this.#extend(each.tree.size);
      each.reached = true;
      this.#compare(each);
    }
    this.#extend(size);
  }

  /** Restores the state that reading all records of the earlier run would give. */
  #goOn({ keys, firstKeyIndex, size, root, note, checkpoints, edge, tail, kept }: VerifiedTree): void {
    for (const key of keys) this.#keys.take(key);
    this.#firstKeyIndex = firstKeyIndex;
    this.#tree.restore(edge);
    for (let at = 0; at < tail.length; at += HASH_SIZE) this.#window.push(new Slice(tail, at, at + HASH_SIZE));
    this.#records = size + tail.length / HASH_SIZE;
    this.#lastSize = size;
    this.#agreedSize = size;
    const checkpoint = parseCheckpoint(note);
    if (checkpoint !== undefined && this.#keys.trustedKeys.some((key) => isSignedBy(checkpoint, key))) {
      this.#checkpoints = checkpoints;
      this.#provenSize = size;
      this.#provenRoot = root;
      this.#provenNote = note;
    }
    for (const each of this.#awaited) {
      if (each.tree.size >= size) continue;
      // The tree cannot go back to a smaller size. A published checkpoint may be older after a crash; kept ones were
      // compared by the earlier run.
      each.reached = true;
      if (each.from === "kept" && kept.some((known) => isSameTree(known, each.tree))) this.#kept++;
    }
  }

  #extend(size: number): void {
    while (this.#tree.size < size) this.#tree.add(this.#window.shift());
  }

  #compare({ tree, from }: ExpectedTree): void {
    const same = sameSlices(wholeSlice(this.#tree.root()), wholeSlice(tree.root));
    if (from === "shown") {
      for (const tile of this.#tree.partialTiles()) this.#tiles?.add(tile);
      if (!same) this.#shownOther = { from: this.#agreedSize, to: tree.size };
      return;
    }
    if (!same) {
      // The ledger's own checkpoints do not show where it diverged from the other tree, so the last matching kept size
      // is reported.
      const place = { index: this.#keptSize, chain: "" };
      const whose = from === "kept" ? "that the kept checkpoint was signed for" : "that an earlier verification read";
      const what = `the first ${tree.size} records are not those ${whose}`;
      this.#problems.add("log_forked", place, what);
      return;
    }
    this.#keptSize = tree.size;
    if (from === "kept") this.#kept++;
  }

  #reportMismatch(): void {
    if (this.#mismatch === undefined) {
      if (this.#shownOther === undefined) return;
      const { from: index, to: size } = this.#shownOther;
      this.#problems.add(
        "log_contradicts",
        { index, chain: "" },
        `the log's newest checkpoint has another root at ${size}`,
      );
      return;
    }
    const { from, to } = this.#mismatch;
    const other = this.#tiles?.firstMismatch;
    const index = other !== undefined && other >= from && other < to ? other : from;
    const what = index === other ? "this record" : `a record from here up to ${to - 1}`;
    this.#problems.add(
      "checkpoint_root",
      { index, chain: "" },
      `${what} is not the one that the checkpoint of size ${to} covers`,
    );
  }

  #reportRolledBack({ tree, from }: ExpectedTree): void {
    if (this.#broken) return;
    const place = { index: this.#records, chain: "" };
    const what = `${ROLLED_BACK[from]} ${tree.size} records: from here on they are missing`;
    this.#problems.add("log_rolled_back", place, what);
  }

  #reportForeign({ from }: ExpectedTree): void {
    const place = { index: this.#firstKeyIndex, chain: SYSTEM_CHAIN };
    if (from === "shown") {
      this.#problems.add("log_contradicts", place, "the log's newest checkpoint is not signed by a key of this ledger");
      return;
    }
    this.#problems.add("log_key_untrusted", place, "the kept checkpoint is not signed by a key of this ledger");
  }

  /** Whether an external checkpoint is signed by a key of this ledger; known once all keys are. */
  #isOwn(checkpoint: Checkpoint): boolean {
    const { trustedKey } = this.#options;
    const keys = trustedKey === undefined ? this.#keys.keys : [trustedKey, ...this.#keys.keys];
    return keys.some((key) => isSignedBy(checkpoint, key));
  }
}

/** Maximum number of external checkpoints that are remembered. */
const MAX_KEPT = 256;

const UNSEEN = { from: "seen", reached: false } as const;

function expectCheckpoint(signed: Checkpoint, from: "kept" | "shown"): ExpectedTree {
  return { tree: signed, signed, from, reached: false };
}

function isSameTree(left: SeenTree, right: SeenTree): boolean {
  return left.size === right.size && sameSlices(wholeSlice(left.root), wholeSlice(right.root));
}

const ROLLED_BACK = {
  kept: "the kept checkpoint covers",
  shown: "the log's newest checkpoint covers",
  seen: "an earlier verification read",
} as const;

const WHAT = { checkpointSigned: "the checkpoint", logKeyAnnounced: "the announcement of a key" } as const;
