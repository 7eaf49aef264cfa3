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

/** What a call leaves behind as it goes: the entries and content not yet written, and what must be released. */
export class CallTrail {
  /** The id the answer carries: as it came, even where it is too broken to be recorded under. */
  replyId = "";
  requestId = "";
  /** Of the request id, once it was looked for. */
  fingerprint: Fingerprint | undefined;
  dedupeKey = "";
  /** The session, once its token was proven and it is open. */
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
  /** The caller's own place among those who wait for the call. */
  waiter: Waiter | undefined;
  /** A person's yes to this call. */
  approvalId = "";
  /** What the call set aside before it ran. */
  reservation: Reservation | undefined;
  /** What it spends besides its price; made when the tool speaks of it. */
  spending: CallSpending | undefined;
  /** Of the call's programs; made at the first. */
  cpuTime: CpuTime | undefined;
  /** Programs that go on after the call. */
  backgroundPrograms: BackgroundProgram[] | undefined;
  /** What leaves the machine for the call; made at its first request. */
  network: CallNetwork | undefined;
  /** What its module used and asked for; made when it is run. */
  wasmTrace: WasmTrace | undefined;
  /** Made at the first byte that counts. */
  storedBytes: ReservedBytes | undefined;
  /** Bytes of an input that became a file, and of what was read and kept. */
  storedInputBytes = 0;
  /** Bytes of outputs, preimages and staged content, as they came. */
  storedOtherBytes = 0;
  /** Bytes that were counted for the session's tree so far. */
  countedBytes = 0;
  /** The call's number in its session; 0 until it is granted. */
  callNumber = 0;
  /** The call's first record; undefined until one was written. */
  firstIndex: number | undefined;
  /** The record that holds the intent; undefined if none was needed or written. */
  intentIndex: number | undefined;
  /** What the call read and changed; made at its first file. */
  fileTrace: FileTrace | undefined;
  /** What programs printed, whole. */
  readonly outputs: CollectedContent[] = [];
  /** The same, once the outcome names it. */
  outputCommitments: readonly Committed[] = [];
  /** The list of those files, once the outcome names it. */
  fileList: Committed | undefined;
  /** The workspace as the call found it, if it writes files. */
  trustedPathsSnapshot: TrustedPathsSnapshot | undefined;
  /** It was decided a second time, about what was really opened. */
  isRedecided = false;
  redecisionRefusal: Denied | Failed | undefined;
  /** Labels of everything the call read. */
  labels: readonly string[] = [];
  /** What the call does with its workspace, once it is granted. */
  workspaceUse: WorkspaceUse = "none";
  /** Secrets in the input, by their replacements. */
  inputSecrets: ReadonlySet<string> = NO_SECRETS;
  /** The call reads what the vault placed: of its result and of what it replaces only hashes are stored. */
  isWithheld = false;
  /** Where the call places a file of the vault for the first time. */
  vaultDestination: string | undefined;
  /** What is recorded of the call is not all of it. */
  isRedacted = false;
  /** What the caller may read again though it is not stored. */
  unstoredContent: readonly UnstoredContent[] = NO_CONTENT;
  /** The call may change something only through programs that are noted under this name. */
  programsIntentKey: string | undefined;
  startedAtMs: number;
  /** Takes back that the tool's own code may have changed something; undefined of tools that are bound to their ports. */
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

  /** Whether the call may have changed something outside the kernel: fails closed, see `withEffect`. */
  get effectsPossible(): boolean {
    return this.intentIndex !== undefined && this.#effects > 0;
  }

  /** From now on something may change. The answer takes that back, for an operation that is known to have changed nothing. */
  beginEffect(): () => void {
    this.#effects++;
    let isBegun = true;
    return () => {
      if (isBegun) this.#effects--;
      isBegun = false;
    };
  }

  /** How many entries wait to be written. */
  get pending(): number {
    return this.#entries.length;
  }

  add(entry: EntryDraft): void {
    this.#entries.push(entry);
  }

  attach(item: ContentDraft): void {
    this.#content.push(item);
  }

  /** Hands over what has gathered since the last time. */
  take(): { readonly entries: EntryDraft[]; readonly content: ContentDraft[] } {
    const taken = { entries: this.#entries, content: this.#content };
    this.#entries = [];
    this.#content = [];
    return taken;
  }

  /** What was taken last is durable. */
  noteWritten(index: number): void {
    this.firstIndex ??= index;
    this.#writtenRequest = this.request;
    this.#writtenProof = this.proof;
  }

  /** Lets go of what gathered and could not be written, for an outcome that says no more than that. */
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

  /** Commitments that an earlier record of the call made, and that its outcome names again. */
  earlierCommitments(): { readonly request: Committed | undefined; readonly proof: Committed | undefined } {
    return {
      request: this.#writtenRequest === this.request ? this.request : undefined,
      proof: this.#writtenProof === this.proof ? this.proof : undefined,
    };
  }

  /** Programs of the call that still run: none outlives it. */
  trackProgram(running: Promise<unknown>): void {
    this.#programs ??= new Set();
    const programs = this.#programs;
    const settled = running.then(forget, forget);
    programs.add(settled);
    function forget(): void {
      programs.delete(settled);
    }
  }

  /** The programs that still run, to wait for once they are killed; undefined if there are none. */
  waitForPrograms(): Promise<unknown> | undefined {
    return this.#programs === undefined || this.#programs.size === 0 ? undefined : Promise.all(this.#programs);
  }

  /** Hands output on. A reader who fails hears no more; the call goes on. */
  async stream(chunk: Uint8Array, listener: ((chunk: Uint8Array) => void | Promise<void>) | undefined): Promise<void> {
    if (listener === undefined || this.#isUnheard) return;
    try {
      await listener(chunk);
    } catch {
      this.#isUnheard = true;
    }
  }

  /** Has content kept in memory once the call is recorded, because it is stored by its hash at most. */
  keepUnstored(content: UnstoredContent): void {
    this.isRedacted = true;
    this.unstoredContent = [...this.unstoredContent, content];
  }

  addLabels(labels: readonly string[]): void {
    this.labels = joinLabels(this.labels, labels);
  }
}
