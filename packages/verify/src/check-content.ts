import type { Call } from "./call.ts";
import type { Chain } from "./chain.ts";
import { type ItemsReport, checkItems } from "./check-items.ts";
import { checkProofs } from "./check-proofs.ts";
import { ReferencedContent } from "./referenced-content.ts";
import { ContentFiles } from "./content-files.ts";
import { Erasures } from "./erasures.ts";
import type { RowHashes } from "./hash/batch-hasher.ts";
import type { DecodedItem, DecodedRecord } from "./ledger-messages.ts";
import type { LedgerSource } from "./ledger-source.ts";
import { OlderErasures } from "./older-erasures.ts";
import type { ProblemList } from "./problem-list.ts";
import type { VerifiedState } from "./verified/verified-state.ts";
import { Malformed } from "./wire/decode-canonical.ts";

/** A call makes a dozen commitments before its outcome; a hostile one must not make lists grow. */
const MAX_REMEMBERED = 64;

/** Checks the content that the records' commitments refer to, over the whole ledger. */
export class ContentCheck {
  items = 0;
  erased = 0;
  /** Number of proofs of decisions that match their decisions. */
  proofs = 0;
  leftOut = 0;
  readonly #problems: ProblemList;
  readonly #files: ContentFiles;
  readonly #elsewhere: ReferencedContent;
  readonly #erasures = new Erasures();
  /** Erasures in records before `#from`, which this run does not read. */
  readonly #older: OlderErasures;
  readonly #from: number;
  readonly #allowed: { readonly leavesOut: boolean };

  constructor(
    source: LedgerSource,
    problems: ProblemList,
    { signal, before }: { readonly signal: AbortSignal | undefined; readonly before: VerifiedState | undefined },
  ) {
    this.#problems = problems;
    this.#older = new OlderErasures(source, problems);
    this.#from = before?.records ?? 0;
    this.items = before?.contentItems ?? 0;
    this.erased = before?.erasedItems ?? 0;
    this.leftOut = before?.leftOutItems ?? 0;
    this.proofs = before?.proofs ?? 0;
    this.#allowed = { leavesOut: source.leavesOut === true };
    this.#files = new ContentFiles(source, signal);
    this.#elsewhere = new ReferencedContent(source, this.#files, problems, signal);
  }

  /** Returns a promise only if something must be read: most records have their content in their row. */
  check(chain: Chain, record: DecodedRecord, hashes: RowHashes, call: Call | undefined): Promise<void> | undefined {
    const { content } = hashes;
    if (content instanceof Malformed) {
      this.#problems.add("content_malformed", record, `not canonical record content: ${content.reason}`);
      return undefined;
    }
    const report = checkItems(record, content.items, hashes, call, this.#allowed);
    this.items += content.items.length;
    this.erased += report.erased.length;
    this.leftOut += report.leftOut;
    this.#report(chain, record, report, call);
    this.proofs += checkProofs(record, content.items, hashes, this.#problems);
    for (const position of report.erased) this.#erasures.note(record.index, position);
    for (const item of report.referenced) this.#elsewhere.add(item, record);
    this.#remember(chain, record, call, report);
    if (report.files.length === 0 && !this.#elsewhere.isFull) return undefined;
    return this.#readFiles(record, report.files);
  }

  /** Checks the entries that record erasures. `sound` is false if earlier records are missing or bad. */
  explainErasures(record: DecodedRecord, sound: boolean): void {
    for (const { kind } of record.entries) {
      if (kind.case !== "contentErased") continue;
      if (kind.value.recordIndex < this.#from) {
        if (sound) this.#older.name(kind.value.recordIndex, kind.value.item, record);
        continue;
      }
      if (this.#erasures.explain(kind.value.recordIndex, kind.value.item) || !sound) continue;
      const what = `item ${kind.value.item} of record ${kind.value.recordIndex}`;
      this.#problems.add("erasure_contradicts", record, `${what} is said to have been erased here and was not`);
    }
  }

  /** Waits until older records have been checked, if there are many. */
  settle(): Promise<void> | undefined {
    return this.#older.isFull ? this.resolveOlder() : undefined;
  }

  /** Runs the checks that are possible only after every record has been read. */
  async finish(sound: boolean): Promise<void> {
    await this.resolveOlder();
    await this.#elsewhere.resolve();
    if (!sound) return;
    for (const { index, item } of this.#erasures.unexplained()) {
      this.#problems.add(
        "content_missing",
        { index, chain: "" },
        `content item ${item} is gone, and no entry says that it was erased`,
      );
    }
  }

  async resolveOlder(): Promise<void> {
    const before = this.#older.erased;
    await this.#older.resolve();
    this.erased += this.#older.erased - before;
  }

  #report(chain: Chain, record: DecodedRecord, report: ItemsReport, call: Call | undefined): void {
    for (const { code, message } of report.problems) {
      // An earlier record of the call, which is unknown, may have opened the commitment.
      if (code === "commitment_unopened" && call === undefined && chain.damaged) continue;
      this.#problems.add(code, record, message);
    }
  }

  #remember(chain: Chain, record: DecodedRecord, call: Call | undefined, report: ItemsReport): void {
    if (call === undefined || chain.openCall(record.requestId) !== call) return;
    if (call.opened.length + report.opened.length > MAX_REMEMBERED) return;
    // Copied, so that a few commitments do not keep whole rows in memory.
    const fresh = report.opened.map((known) => ({ ...known, commitment: known.commitment.copy() }));
    call.opened = [...call.opened, ...fresh];
  }

  async #readFiles(record: DecodedRecord, files: readonly DecodedItem[]): Promise<void> {
    if (this.#elsewhere.isFull) await this.#elsewhere.resolve();
    for (const item of files) {
      const finding = await this.#files.find(item.digest.view());
      if (finding === "missing") {
        this.#problems.add("content_missing", record, "a content file is missing");
      } else if (finding === "unreadable") {
        this.#problems.add("content_damaged", record, "a content file cannot be read");
      } else if (finding === "damaged") {
        this.#problems.add("content_damaged", record, "a content file does not hash to its name");
      } else if (finding.size !== item.size) {
        this.#problems.add("content_contradicts", record, `a content file has ${finding.size} bytes, not ${item.size}`);
      }
    }
  }
}
