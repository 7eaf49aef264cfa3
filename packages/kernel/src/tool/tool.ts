import type { JsonObject, JsonValue } from "@narthex/contracts";
import type { ApprovalScope } from "../approval/approval-scope.ts";
import type { BudgetAmounts } from "../budget/budget.ts";
import type { Capability, CapabilityKind, HostPattern } from "../capability/capability.ts";
import type { SandboxedProgram, ExceededBound } from "../sandboxed-programs.ts";
import type { EgressAccounting, IncomingResponse, OutgoingRequest } from "../egress.ts";
import type { PageReader } from "../page-reader.ts";
import type { ViewPart } from "../result/view-part.ts";
import type { JobCommand, ShellCommand, ShellJob } from "../session-shells.ts";
import type { WasmModule } from "../wasm/wasm-runner.ts";
import type { FileResult, FileOperation, FileState } from "../workspace-files.ts";

export const EFFECTS = [
  "net_read",
  "net_write",
  "fs_read",
  "fs_write",
  "db_read",
  "db_write",
  "process_spawn",
  "env_read",
  "inference",
  "artifact",
] as const;
export type Effect = (typeof EFFECTS)[number];

export const DETERMINISM_LEVELS = ["pure", "deterministic", "external", "nondeterministic"] as const;
export type Determinism = (typeof DETERMINISM_LEVELS)[number];

export const SAFETY_TIERS = ["read_only", "side_effecting", "privileged"] as const;
export type SafetyTier = (typeof SAFETY_TIERS)[number];

export const RESULT_TYPES = ["json", "object", "array", "string", "binary", "stream"] as const;
export type ResultType = (typeof RESULT_TYPES)[number];

export type ToolSource = "builtin" | "embedder" | "module" | "wasm" | "http" | "subprocess" | "mcp";
export type Isolation = "inline" | "worker" | "process" | "wasm" | "http" | "mcp";

export interface Bounds {
  readonly timeoutMs: number;
  /** How much of the result a model is shown. */
  readonly maxOutputBytes: number;
  readonly maxMemoryBytes?: number;
  readonly maxCpuMs?: number;
  readonly maxFuel?: number;
  readonly maxNetworkRequests?: number;
  readonly maxNetworkBytes?: number;
}

/** Everything about a tool that a decision, a model or a reader of the ledger may need. Plain data. */
export interface ToolDeclaration {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly source: ToolSource;
  readonly isolation: Isolation;
  /** JSON Schema 2020-12. */
  readonly inputSchema: JsonObject | boolean;
  readonly outputSchema: JsonObject | boolean | undefined;
  readonly resultType: ResultType;
  readonly normalise: "json" | "binary" | "custom";
  readonly effects: readonly Effect[];
  readonly determinism: Determinism;
  readonly tier: SafetyTier;
  readonly capabilities: readonly Capability[];
  readonly bounds: Bounds;
  /** Cost units a call spends. */
  readonly price: number;
  /** What its results are labelled with, whatever they are. */
  readonly labels?: readonly string[];
  /** Of a tool that is a program of its own. */
  readonly program?: ToolProgram;
}

/** What runs when such a tool is called. */
export interface ToolProgram {
  /** Lower-case hex, over the command and the bytes of every file of it. */
  readonly hash: string;
}

/** What a declaration may narrow to for one input. Never widens. */
export interface Narrowing {
  readonly effects?: readonly Effect[];
  readonly tier?: SafetyTier;
  readonly determinism?: Determinism;
  /** The time these arguments ask for, up to the declared bound. */
  readonly timeoutMs?: number;
  /** The same of time on the processor. 0: no program is run for them. */
  readonly maxCpuMs?: number;
}

/** A declaration together with the code that runs. */
export interface Tool extends ToolDeclaration {
  narrow?(input: JsonValue): Narrowing;
  /** Of a tool that narrows itself: kinds of capabilities of which every call needs at least one. */
  readonly needsAnyOf?: readonly CapabilityKind[];
  /** Fields of the input that take the values of their `enum` in any case; the schema's spelling is what the call has. */
  readonly anyCase?: readonly string[];
  /** What policy is asked about, if calls of one tool are not all alike: `git_push`. The tool's name by default. */
  action?(input: JsonValue): string;
  /** Every name that `action` gives: rules are checked against them. */
  readonly actions?: readonly string[];
  /** What rules may know about the arguments besides the arguments themselves. */
  readonly derived?: DerivedFacts;
  /** The capabilities these very arguments need. */
  needs?(input: JsonValue, session: ToolSession): readonly Capability[];
  /** What these very arguments may spend besides the price; set aside before the call, spent by `ToolContext.spending`. */
  reserves?(input: JsonValue): Spending;
  /** Whether `{"$secret": name}` can stand where its schema lets an object stand. The tool sees the name only. */
  readonly takesSecrets?: boolean;
  /**
   * Hosts and ports of the tool's own configuration. With the effect `inference` it may ask these and no others; with a
   * network effect they are granted by their exact address, where they are no public one.
   */
  readonly endpoints?: readonly HostPattern[];
  /** What an answer for the session covers besides this very input; nothing by default. */
  approvalScope?(input: JsonValue, session: ToolSession): ApprovalScope | undefined;
  /**
   * Files of the workspace, relative to it, that the call would run as programs. An approval is bound to what they hold: once
   * one of them changed, the call is asked about again.
   */
  approvalFiles?(input: JsonValue, session: ToolSession): readonly string[];
  /** The form of the input that digests, approvals and the ledger see; the input itself by default. */
  canonicalInput?(input: JsonValue): JsonValue;
  /** Where a model is shown the result's lines with their numbers: the number of the first one. */
  firstLine?(input: JsonValue): number | undefined;
  /** The result in plain text, as a model is shown it. JSON results are shown as JSON without it. */
  textView?(output: JsonValue): readonly ViewPart[];
  normaliseCustom?(output: ToolOutput): Uint8Array;
  /**
   * Changes nothing but through programs that it runs to their end. After a crash, a call without network whose programs are
   * proven to have ended is KILLED, and may be made again. The kernel holds such a call to it.
   */
  readonly changesByPrograms?: boolean;
  /** Takes out of any text what must not be seen by anyone. Used on results, streams and errors. */
  readonly redactors?: readonly Redactor[];
  /** After a crash between intent and outcome: did the effect happen? */
  reconcile?(intent: UnsettledIntent, context: ReconcileContext): Promise<Reconciliation>;
  /** What only code can check, of input that fits the schema. Throws INVALID_INPUT with every problem; nothing has run then. */
  checkInput?(input: JsonValue): void;
  run(input: JsonValue, context: ToolContext): Promise<ToolOutput> | ToolOutput;
}

/** What only the tool can count: the kernel counts the rest itself. */
export type Spending = Pick<BudgetAmounts, "inference_tokens" | "cost_units">;

/** Facts about one input, for policy. They help rules; they are not what contains the tool. */
export interface DerivedFacts {
  /** JSON Schema of an object with named properties, each of which Cedar has a type for. */
  readonly schema: JsonObject;
  /** Called with input that fits the input schema. */
  of(input: JsonValue): JsonObject;
}

/** JSON for `json`, `object` and `array`; text for `string`; bytes for `binary`; chunks for `stream`. */
export type ToolOutput = JsonValue | Uint8Array | AsyncIterable<Uint8Array>;

/** Replaces every occurrence of some secrets. */
export interface Redactor {
  /** The exact strings to hide; none is empty. */
  readonly secrets: readonly string[];
  readonly replacement: string;
}

export interface ToolSession {
  readonly id: string;
  readonly tenant: string;
  readonly workspace: string;
  readonly workingDirectory: string;
}

/** The ports of one grant: all an inline tool is given. */
export interface ToolContext {
  readonly requestId: string;
  readonly session: ToolSession;
  readonly callNumber: number;
  /** Aborted at the time-out and on cancelling. */
  readonly signal: AbortSignal;
  /** Until the call is timed out. For `pure` and `deterministic` tools all that it was given, whenever they ask. */
  timeLeftMs(): number;
  /** The call's logical clock for `pure` and `deterministic` tools, the wall clock for others. */
  nowMs(): number;
  /** The call's seeded stream for `pure` and `deterministic` tools, real randomness for others. */
  randomBytes(length: number): Uint8Array;
  /** Throws unless the call may also do this: once, for what only turns out while it runs. */
  decide(needed: readonly Capability[]): void;
  readonly content: ContentAccess;
  readonly artifacts: ArtifactAccess;
  readonly files: FileAccess;
  readonly programs: ProgramAccess;
  readonly vault: VaultAccess;
  readonly shell: ShellAccess;
  readonly network: NetworkAccess;
  readonly pages: PageReader;
  readonly spending: SpendingAccess;
  readonly wasm: WasmAccess;
}

/** Metered modules, under the grant. For tools of class `wasm`. */
export interface WasmAccess {
  /**
   * Runs a module on the call's input, in its canonical form, to the end; what it asks of its host is checked, charged and
   * recorded. Throws RESOURCE_EXCEEDED for a limit, UNDECLARED_EFFECT, INVALID_OUTPUT, or EXECUTION_FAILED.
   */
  run(module: WasmModule): Promise<JsonValue>;
}

/** What the call spends besides its price. */
export interface SpendingAccess {
  /**
   * To be said before anything is spent: from now on all that is set aside for the call counts as spent, until
   * `settle` knows better. `more` is set aside as well. Throws RESOURCE_EXCEEDED if too little is left for that.
   */
  begin(more?: Spending): void;
  /** What was really spent, even if it is more than was set aside. Said twice, the second time counts. */
  settle(spent: Spending): void;
}

/** Requests to other hosts, through the gate and under the grant. For calls with a network effect or `inference`. */
export interface NetworkAccess {
  /** Labels the call `untrusted`. Throws as `EgressExit.request` does, UNDECLARED_EFFECT for what was not declared. */
  request(request: OutgoingRequest): Promise<IncomingResponse>;
  /** For requests of a connection that was there before the call and outlives it: what it is used for is the call's. */
  accounting(): EgressAccounting;
}

/** Shell commands and background jobs of the session, under the grant. For tools of class `process`. */
export interface ShellAccess {
  /** Runs a command to its end, by the backend that is configured. Throws as `ProgramAccess.run` does. */
  run(command: ShellRequest): Promise<ShellResult>;
  spawn(job: JobCommand): Promise<ShellJob>;
  /** Throws INVALID_INPUT if the session has no such job. */
  job(jobId: string): Promise<ShellJob>;
}

export interface ShellRequest extends ShellCommand {
  /** Killed after this, with all it started; what it printed is kept. */
  readonly timeoutMs: number;
}

export interface ShellResult extends ProgramResult {
  /** What the caller should know beside the result: that a shell's state was lost, say. */
  readonly notes: readonly string[];
}

/** Programs in sandboxes, under the grant: the mounts follow from the call's effects. For tools of class `process`. */
export interface ProgramAccess {
  /**
   * Runs a program to its end. What it prints is handed on as it comes, redacted and kept. Throws SANDBOX_ERROR if the
   * sandbox failed and UNDECLARED_EFFECT if it changed what it must not; any other end is a result.
   */
  run(program: ProgramRequest): Promise<ProgramResult>;
}

export interface ProgramRequest extends SandboxedProgram {
  readonly input?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Less than the call's effects would give. */
  readonly access?: "none" | "read";
  /** Whether it has the way out that the call has; so by default. */
  readonly hasNetwork?: boolean;
  /** Killed after this, with all it started; what it printed is kept. */
  readonly timeoutMs?: number;
  /** Of each stream. */
  readonly maxOutputBytes?: number;
  /** Streams whose whole is content that the session can read again; both by default. */
  readonly kept?: readonly ("stdout" | "stderr")[];
  /** Whether what it prints is shown while it runs; so by default. */
  readonly isShown?: boolean;
  /**
   * Given what it prints as it comes, up to the bound, with secrets hidden. The chunk may be reused afterwards. Of
   * streams that are not kept, the result then holds nothing.
   */
  onPrinted?(stream: "stdout" | "stderr", chunk: Uint8Array): void;
}

export interface ProgramResult {
  readonly exitCode: number | undefined;
  readonly stdout: PrintedOutput;
  readonly stderr: PrintedOutput;
  /** Why it was killed, if it was. */
  readonly exceeded: ExceededBound | undefined;
}

export interface PrintedOutput {
  readonly size: number;
  /** Lower-case hex. */
  readonly hash: string;
  /** Up to 1 MB of its beginning. */
  readonly head: Uint8Array;
  /** Its last bytes, where `head` is not all of it. */
  readonly tail?: Uint8Array | undefined;
}

/** The files of the session's workspace, under the grant. */
export interface FileAccess {
  /**
   * Where a directory really is, through links inside the workspace, once the call may read there: for a program that
   * is about to run in it. Relative to the workspace's root. Throws NOT_A_DIRECTORY and the like.
   */
  locateDirectory(path: string): Promise<string>;
  /** Says that a program of the call was shown what is in this file: its labels are the call's from now on. */
  noteReading(path: string): void;
  /** Throws a KernelError with the code of what is wrong. */
  run(operation: FileOperation): Promise<FileResult>;
}

/** Files of the vault, under the grant. The tool itself sees none of them. */
export interface VaultAccess {
  /** Copies one file into the workspace. Both paths are relative, the first to the vault. Labels the session `secret`. */
  copyTo(source: string, destination: string): Promise<VaultCopy>;
}

export interface VaultCopy {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly hash: string;
}

/** Content this session may name, and only that. */
export interface ContentAccess {
  /** Throws CONTENT_NOT_FOUND for anything else. Adopts the content's labels. */
  stat(hashHex: string): Promise<ContentFacts>;
  read(hashHex: string, offset: number, limit: number): Promise<Uint8Array>;
  stream(hashHex: string, offset: number, limit: number): AsyncIterable<Uint8Array>;
  /** Keeps what the call came by, redacted: content that the session can read again, once the call has ended. */
  keep(chunks: AsyncIterable<Uint8Array>): Promise<PrintedOutput>;
}

export interface ContentFacts {
  readonly hash: string;
  readonly size: number;
  readonly labels: readonly string[];
}

export interface Artifact {
  readonly artifact_id: string;
  readonly content_hash: string;
  readonly category: string;
  readonly metadata: readonly string[];
  readonly size: number;
  /** In logical time. */
  readonly published_at_ms: number;
}

export interface ArtifactAccess {
  /** Throws ARTIFACT_EXISTS if the id stands for something else already. */
  publish(artifact: Pick<Artifact, "artifact_id" | "content_hash" | "category" | "metadata">): Promise<Artifact>;
  /** Gives the session a reference to the artifact's content. */
  get(artifactId: string): Promise<Artifact | undefined>;
}

/** What a tool found out about its lost call; if it happened, with the result it would have had. */
export type Reconciliation = { readonly happened: ToolOutput } | "did_not_happen" | "unknown";

export interface UnsettledIntent {
  readonly sessionId: string;
  readonly tenant: string;
  readonly requestId: string;
  readonly session: ToolSession;
  readonly input: JsonValue;
}

export interface ReconcileContext {
  /** What is at a path of the session's workspace now, itself: a link is not followed. */
  inspectFile(path: string): Promise<FileState>;
  /** Throws for more than a few megabytes. */
  readFile(path: string): Promise<Uint8Array>;
  /** What a file of the vault is now: not for a path that leads there by a link. */
  inspectVault(path: string): Promise<VaultCopy>;
  /** Whether a file of the vault with this hash, lower-case hex, was about to be placed at this path last. */
  wasPlaced(path: string, hash: string): boolean;
  findArtifact(tenant: string, artifactId: string): Promise<(Artifact & { readonly requestId: string }) | undefined>;
}
