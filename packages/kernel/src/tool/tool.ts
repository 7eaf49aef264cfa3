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

/** All properties of a tool that are relevant to decisions, models or readers of the ledger. Plain data. */
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
  /** Cost units per call. */
  readonly price: number;
  /** Labels of all its results. */
  readonly labels?: readonly string[];
  /** Set for a tool that is a separate program. */
  readonly program?: ToolProgram;
}

/** The program that such a tool runs. */
export interface ToolProgram {
  /** Lowercase hex, over the command and the bytes of all its files. */
  readonly hash: string;
}

/** How a tool narrows its declaration for one input. Never widens it. */
export interface Narrowing {
  readonly effects?: readonly Effect[];
  readonly tier?: SafetyTier;
  readonly determinism?: Determinism;
  /** The time that these arguments request, up to the declared bound. */
  readonly timeoutMs?: number;
  /** The CPU time that these arguments request, up to the declared bound. 0 means that no program is run. */
  readonly maxCpuMs?: number;
}

/** A declaration and the code that runs. */
export interface Tool extends ToolDeclaration {
  narrow?(input: JsonValue): Narrowing;
  /** For a tool that narrows itself: kinds of capabilities of which every call needs at least one. */
  readonly needsAnyOf?: readonly CapabilityKind[];
  /** Case-insensitive fields with an `enum`. Their values are converted to the schema's spelling. */
  readonly anyCase?: readonly string[];
  /** The action of the call's policy requests, if calls of one tool differ: `git_push`. The tool's name by default. */
  action?(input: JsonValue): string;
  /** All values that `action` can return. Rules are validated against them. */
  readonly actions?: readonly string[];
  /** Facts about the arguments for policy, in addition to the arguments themselves. */
  readonly derived?: DerivedFacts;
  /** The capabilities that these arguments need. */
  needs?(input: JsonValue, session: ToolSession): readonly Capability[];
  /**
   * Spending that these arguments may cause in addition to the price. Reserved before the call, charged through
   * `ToolContext.spending`.
   */
  reserves?(input: JsonValue): Spending;
  /** Whether `{"$secret": name}` may replace an object in the input. The tool sees the name only. */
  readonly takesSecrets?: boolean;
  /**
   * Hosts and ports from the tool's own configuration. With the effect `inference` it may send requests to these and no
   * others; with a network effect they grant access to exactly these addresses even if they are not public.
   */
  readonly endpoints?: readonly HostPattern[];
  /** Calls besides one with the same input that an approval for the session covers; none by default. */
  approvalScope?(input: JsonValue, session: ToolSession): ApprovalScope | undefined;
  /**
   * Workspace-relative files that the call would run as programs. An approval is bound to their content: once one of
   * them has changed, the call needs another approval.
   */
  approvalFiles?(input: JsonValue, session: ToolSession): readonly string[];
  /** The form of the input for digests, approvals and the ledger; the input itself by default. */
  canonicalInput?(input: JsonValue): JsonValue;
  /** The number of the result's first line, if a model is shown line numbers. */
  firstLine?(input: JsonValue): number | undefined;
  /** The result as plain text for a model. Without it JSON results are shown as JSON. */
  textView?(output: JsonValue): readonly ViewPart[];
  normaliseCustom?(output: ToolOutput): Uint8Array;
  /**
   * States that the tool changes things only through programs that it runs to completion. After a crash, such a call
   * without network access ends as KILLED if its programs are proven to have ended, and may be repeated. The kernel
   * enforces the claim.
   */
  readonly changesByPrograms?: boolean;
  /** Redactors for texts that must not be visible to anyone. Applied to results, streams and errors. */
  readonly redactors?: readonly Redactor[];
  /** Determines, after a crash between intent and outcome, whether the effect happened. */
  reconcile?(intent: UnsettledIntent, context: ReconcileContext): Promise<Reconciliation>;
  /**
   * Checks that only code can do, on input that fits the schema, before anything runs. Throws INVALID_INPUT with every
   * problem.
   */
  checkInput?(input: JsonValue): void;
  run(input: JsonValue, context: ToolContext): Promise<ToolOutput> | ToolOutput;
}

/** Spending that only the tool can count; the kernel counts the rest itself. */
export type Spending = Pick<BudgetAmounts, "inference_tokens" | "cost_units">;

/** Facts about one input, for policy. They support rules; they do not contain the tool. */
export interface DerivedFacts {
  /** JSON Schema of an object with named properties, each of which has a Cedar type. */
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

/** The ports of one grant: everything that an inline tool has access to. */
export interface ToolContext {
  readonly requestId: string;
  readonly session: ToolSession;
  readonly callNumber: number;
  /** Aborted on timeout and cancellation. */
  readonly signal: AbortSignal;
  /** Time left until the timeout. For `pure` and `deterministic` tools always the whole timeout. */
  timeLeftMs(): number;
  /** The call's logical clock for `pure` and `deterministic` tools, the wall clock for others. */
  nowMs(): number;
  /** The call's seeded stream for `pure` and `deterministic` tools, real randomness for others. */
  randomBytes(length: number): Uint8Array;
  /**
   * Decides on capabilities that turn out to be needed only while the call runs. Throws unless the call may use them.
   */
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

/** Metered WebAssembly modules, under the grant. For tools of class `wasm`. */
export interface WasmAccess {
  /**
   * Runs a module to completion on the canonical form of the call's input. Its host calls are checked, charged and
   * recorded. Throws RESOURCE_EXCEEDED for a limit, UNDECLARED_EFFECT, INVALID_OUTPUT, or EXECUTION_FAILED.
   */
  run(module: WasmModule): Promise<JsonValue>;
}

/** Spending of the call in addition to its price. */
export interface SpendingAccess {
  /**
   * Must be called before anything is spent. From then on the call's whole reservation counts as spent, until `settle`
   * reports the actual amount. `more` is reserved in addition. Throws RESOURCE_EXCEEDED if the remaining budget is too
   * small for it.
   */
  begin(more?: Spending): void;
  /** Reports the actual spending, even if it exceeds the reservation. A second call replaces the first. */
  settle(spent: Spending): void;
}

/**
 * Requests to other hosts, through the egress gate and under the grant. For calls with a network effect or `inference`.
 */
export interface NetworkAccess {
  /** Labels the call `untrusted`. Throws as `EgressExit.request` does, and UNDECLARED_EFFECT for undeclared access. */
  request(request: OutgoingRequest): Promise<IncomingResponse>;
  /** Accounting for requests on a connection that outlives the call: the traffic is charged to this call. */
  accounting(): EgressAccounting;
}

/** Shell commands and background jobs of the session, under the grant. For tools of class `process`. */
export interface ShellAccess {
  /** Runs a command to completion with the configured backend. Throws as `ProgramAccess.run` does. */
  run(command: ShellRequest): Promise<ShellResult>;
  spawn(job: JobCommand): Promise<ShellJob>;
  /** Throws INVALID_INPUT if the session has no such job. */
  job(jobId: string): Promise<ShellJob>;
}

export interface ShellRequest extends ShellCommand {
  /** The command and all its processes are killed after this; their output so far is kept. */
  readonly timeoutMs: number;
}

export interface ShellResult extends ProgramResult {
  /** Notes for the caller in addition to the result, for example that a shell's state was lost. */
  readonly notes: readonly string[];
}

/** Sandboxed programs, under the grant: their mounts follow from the call's effects. For tools of class `process`. */
export interface ProgramAccess {
  /**
   * Runs a program to completion. Its output is redacted, forwarded as it arrives and kept. Throws SANDBOX_ERROR if the
   * sandbox failed and UNDECLARED_EFFECT if the program made a change that is not permitted; any other end is a result.
   */
  run(program: ProgramRequest): Promise<ProgramResult>;
}

export interface ProgramRequest extends SandboxedProgram {
  readonly input?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Restricts access below what the call's effects permit. */
  readonly access?: "none" | "read";
  /** Whether the program has the call's network access; true by default. */
  readonly hasNetwork?: boolean;
  /** The program and all its processes are killed after this; their output so far is kept. */
  readonly timeoutMs?: number;
  /** Per stream. */
  readonly maxOutputBytes?: number;
  /** Streams whose complete output becomes content that the session can read again; both by default. */
  readonly kept?: readonly ("stdout" | "stderr")[];
  /** Whether its output is shown while it runs; true by default. */
  readonly isShown?: boolean;
  /**
   * Receives the output as it arrives, up to the bound, with secrets redacted. The chunk may be reused afterwards. For
   * streams that are not kept, the result is then empty.
   */
  onPrinted?(stream: "stdout" | "stderr", chunk: Uint8Array): void;
}

export interface ProgramResult {
  readonly exitCode: number | undefined;
  readonly stdout: PrintedOutput;
  readonly stderr: PrintedOutput;
  /** The bound for which it was killed; undefined if it was not. */
  readonly exceeded: ExceededBound | undefined;
}

export interface PrintedOutput {
  readonly size: number;
  /** Lowercase hex. */
  readonly hash: string;
  /** The first bytes, up to 1 MB. */
  readonly head: Uint8Array;
  /** The last bytes, if `head` is incomplete. */
  readonly tail?: Uint8Array | undefined;
}

/** The files of the session's workspace, under the grant. */
export interface FileAccess {
  /**
   * Resolves the real location of a directory through links inside the workspace, after checking that the call may read
   * there: for a program about to run in it. Relative to the workspace's root. Throws NOT_A_DIRECTORY and similar
   * errors.
   */
  locateDirectory(path: string): Promise<string>;
  /** Notes that a program of the call received the content of this file. The call adopts the file's labels. */
  noteReading(path: string): void;
  /** Throws a KernelError with the specific code. */
  run(operation: FileOperation): Promise<FileResult>;
}

/** Files of the vault, under the grant. The tool itself does not see their content. */
export interface VaultAccess {
  /** Copies one file into the workspace. Both paths are relative, the first to the vault. Labels the session `secret`. */
  copyTo(source: string, destination: string): Promise<VaultCopy>;
}

export interface VaultCopy {
  readonly bytes: number;
  /** Lowercase hex. */
  readonly hash: string;
}

/** Content that this session may name, and no other. */
export interface ContentAccess {
  /** Throws CONTENT_NOT_FOUND for any other content. Adopts the content's labels. */
  stat(hashHex: string): Promise<ContentFacts>;
  read(hashHex: string, offset: number, limit: number): Promise<Uint8Array>;
  stream(hashHex: string, offset: number, limit: number): AsyncIterable<Uint8Array>;
  /** Stores data that the call obtained, redacted, as content that the session can read after the call has ended. */
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
  /** Throws ARTIFACT_EXISTS if the id already names different content. */
  publish(artifact: Pick<Artifact, "artifact_id" | "content_hash" | "category" | "metadata">): Promise<Artifact>;
  /** Grants the session a reference to the artifact's content. */
  get(artifactId: string): Promise<Artifact | undefined>;
}

/** The result of a tool's reconciliation of an unsettled call; if it happened, with the result it would have had. */
export type Reconciliation = { readonly happened: ToolOutput } | "did_not_happen" | "unknown";

export interface UnsettledIntent {
  readonly sessionId: string;
  readonly tenant: string;
  readonly requestId: string;
  readonly session: ToolSession;
  readonly input: JsonValue;
}

export interface ReconcileContext {
  /** Inspects the file at a path of the session's workspace. A link is not followed. */
  inspectFile(path: string): Promise<FileState>;
  /** Throws if the file is larger than a few megabytes. */
  readFile(path: string): Promise<Uint8Array>;
  /** Inspects a file of the vault. Rejects a path that leads through a link. */
  inspectVault(path: string): Promise<VaultCopy>;
  /** Whether the file last intended for placement from the vault at this path had this hash (lowercase hex). */
  wasPlaced(path: string, hash: string): boolean;
  findArtifact(tenant: string, artifactId: string): Promise<(Artifact & { readonly requestId: string }) | undefined>;
}
