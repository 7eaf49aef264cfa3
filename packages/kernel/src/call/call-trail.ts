import type { Reservation } from "../budget/budget-account.ts";
import type { Fingerprint } from "../journal/used-request-ids.ts";
import type { RunningCall, Waiter } from "../journal/running-call.ts";
import type { CollectedContent } from "../result/content-collector.ts";
import type { UnstoredContent } from "../result/unstored-collector.ts";
import { joinLabels } from "../label/join-labels.ts";
import type { WorkspaceUse } from "../label/workspace-use.ts";
import type { Committed } from "../ledger/commitment.ts";
import type { ContentDraft, EntryDraft } from "../ledger/record-draft.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { ReservedBytes } from "../budget/reserved-bytes.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { CallSpending } from "./call-spending.ts";
import type { CallNetwork } from "./call-network.ts";
import type { Denied, Failed } from "./ending.ts";
import type { FileTrace } from "./file-trace.ts";
import type { BackgroundProgram, CpuTime } from "./cpu-time.ts";
import type { TrustedPathsSnapshot } from "../trusted-paths.ts";
import type { WasmTrace } from "./wasm-trace.ts";

const NO_SECRETS: ReadonlySet<string> = new Set();
const NO_CONTENT: readonly UnstoredContent[] = [];

/** What a call accumulates while it runs: entries and content that are not yet written, and resources to release. */
export class CallTrail {
  /** The id in the response: as received, even if it is invalid and cannot be recorded. */
  replyId = "";
  requestId = "";
  /** Fingerprint of the request id, once it was looked up. */
  fingerprint: Fingerprint | undefined;
  dedupeKey = "";
  /** The session, once its token is verified and it is open. */
  live: LiveSession | undefined;
  toolName = "";
  toolVersion = "";
  tool: RegisteredTool | undefined;
  input: Committed | undefined;
  request: Committed | undefined;
  proof: Committed | undefined;
  proofBytes: Uint8Array | undefined;
  result: Committed | undefined;
  running: RunningCall | undefined;
  /** This caller among those that wait for the call. */
  waiter: Waiter | undefined;
  /** Id of the approval that the call claimed. */
  approvalId = "";
  /** What the call reserved before it ran. */
  reservation: Reservation | undefined;
  /** What it spends besides its price; created when the tool first reports spending. */
  spending: CallSpending | undefined;
  /** CPU time of the call's programs; created for the first. */
  cpuTime: CpuTime | undefined;
  /** Programs that continue after the call. */
  backgroundPrograms: BackgroundProgram[] | undefined;
  /** Network access of the call; created at its first request. */
  network: CallNetwork | undefined;
  /** What its module used and requested from its host; created when it runs. */
  wasmTrace: WasmTrace | undefined;
  /** Created at the first byte that counts. */
  storedBytes: ReservedBytes | undefined;
  /** Bytes of input stored as a file, and of content that was read and kept. */
  storedInputBytes = 0;
  /** Bytes of outputs, preimages and staged content so far. */
  storedOtherBytes = 0;
  /** Bytes counted so far for the session tree: the session together with its parents and children. */
  countedBytes = 0;
  /** The call's number in its session; 0 until it is granted. */
  callNumber = 0;
  /** Index of the call's first record; undefined until one is written. */
  firstIndex: number | undefined;
  /** Index of the record with the intent; undefined if none was needed or written. */
  intentIndex: number | undefined;
  /** Files that the call read and changed; created at its first file. */
  fileTrace: FileTrace | undefined;
  /** Complete outputs of programs. */
  readonly outputs: CollectedContent[] = [];
  /** Commitments to `outputs`, once the outcome names them. */
  outputCommitments: readonly Committed[] = [];
  /** Commitment to the list of files in `fileTrace`, once the outcome names it. */
  fileList: Committed | undefined;
  /** State of the workspace as the call found it, if it writes files. */
  trustedPathsSnapshot: TrustedPathsSnapshot | undefined;
  /** The call was decided a second time, on what was actually opened. */
  isRedecided = false;
  redecisionRefusal: Denied | Failed | undefined;
  /** Labels of everything the call read. */
  labels: readonly string[] = [];
  /** How the call uses its workspace, once it is granted. */
  workspaceUse: WorkspaceUse = "none";
  /** Secrets found in the input, by their replacements. */
  inputSecrets: ReadonlySet<string> = NO_SECRETS;
  /**
   * The call reads a file that the vault placed: of its result and of the content it replaces only hashes are stored.
   */
  isWithheld = false;
  /** The path at which the call places a file of the vault for the first time. */
  vaultDestination: string | undefined;
  /** The record of the call is incomplete: data was redacted or withheld. */
  isRedacted = false;
  /** Content that the caller may read again although it is not stored. */
  unstoredContent: readonly UnstoredContent[] = NO_CONTENT;
  /** Key under which the call's programs are noted, if it can change something only through programs. */
  programsIntentKey: string | undefined;
  startedAtMs: number;
  /** Cancels the assumption that the tool's own code may have changed something; undefined for port-bound tools. */
  cancelToolEffect: (() => void) | undefined;
  #entries: EntryDraft[] = [];
  #content: ContentDraft[] = [];
  #programs: Set<Promise<void>> | undefined;
  #effects = 0;
  #isUnheard = false;
  #writtenRequest: Committed | undefined;
  #writtenProof: Committed | undefined;

  constructor(startedAtMs: number) {
    this.startedAtMs = startedAtMs;
  }

  /** Whether the call may have changed something outside the kernel. Fails closed: see `withEffect`. */
  get effectsPossible(): boolean {
    return this.intentIndex !== undefined && this.#effects > 0;
  }

  /**
   * Marks that something may change from now on. The returned function undoes this, for an operation that is known to
   * have changed nothing.
   */
  beginEffect(): () => void {
    this.#effects++;
    let isBegun = true;
    return () => {
      if (isBegun) this.#effects--;
      isBegun = false;
    };
  }

  /** Number of entries not yet written. */
  get pending(): number {
    return this.#entries.length;
  }

  add(entry: EntryDraft): void {
    this.#entries.push(entry);
  }

  attach(item: ContentDraft): void {
    this.#content.push(item);
  }

  /** Returns, and removes, everything added since the last time. */
  take(): { readonly entries: EntryDraft[]; readonly content: ContentDraft[] } {
    const taken = { entries: this.#entries, content: this.#content };
    this.#entries = [];
    this.#content = [];
    return taken;
  }

  /** Marks what was taken last as durable. */
  noteWritten(index: number): void {
    this.firstIndex ??= index;
    this.#writtenRequest = this.request;
    this.#writtenProof = this.proof;
  }

  /** Drops everything that was added and could not be written, for an outcome that names none of it. */
  dropUnwritten(): void {
    this.#entries = [];
    this.#content = [];
    this.request = this.#writtenRequest;
    this.proof = this.#writtenProof;
    this.result = undefined;
    this.fileTrace = undefined;
    this.fileList = undefined;
    this.outputs.length = 0;
    this.outputCommitments = [];
    this.unstoredContent = NO_CONTENT;
  }

  /** Commitments in an earlier record of the call, which its outcome names again. */
  earlierCommitments(): { readonly request: Committed | undefined; readonly proof: Committed | undefined } {
    return {
      request: this.#writtenRequest === this.request ? this.request : undefined,
      proof: this.#writtenProof === this.proof ? this.proof : undefined,
    };
  }

  /** Tracks a program of the call while it runs: none outlives the call. */
  trackProgram(running: Promise<unknown>): void {
    this.#programs ??= new Set();
    const programs = this.#programs;
    const settled = running.then(forget, forget);
    programs.add(settled);
    function forget(): void {
      programs.delete(settled);
    }
  }

  /** Waits for the programs that still run, once they are killed; undefined if none exist. */
  waitForPrograms(): Promise<unknown> | undefined {
    return this.#programs === undefined || this.#programs.size === 0 ? undefined : Promise.all(this.#programs);
  }

  /** Passes output to the listener. A listener that throws receives no more; the call continues. */
  async stream(chunk: Uint8Array, listener: ((chunk: Uint8Array) => void | Promise<void>) | undefined): Promise<void> {
    if (listener === undefined || this.#isUnheard) return;
    try {
      await listener(chunk);
    } catch {
      this.#isUnheard = true;
    }
  }

  /** Keeps content in memory once the call is recorded, because at most its hash is stored. */
  keepUnstored(content: UnstoredContent): void {
    this.isRedacted = true;
    this.unstoredContent = [...this.unstoredContent, content];
  }

  addLabels(labels: readonly string[]): void {
    this.labels = joinLabels(this.labels, labels);
  }
}
