import { createBlake3, fromHex, HASH_SIZE, KernelError, toHex } from "@narthex/contracts";
import { createCallRandom } from "../session/call-random.ts";
import { logicalTimeMs } from "../session/logical-time.ts";
import type {
  ContentAccess,
  FileAccess,
  PrintedOutput,
  ProgramAccess,
  SpendingAccess,
  ToolContext,
  ToolSession,
  WasmAccess,
} from "../tool/tool.ts";
import type { FileChange, WorkspaceFiles } from "../workspace-files.ts";
import { createReplayModule, type RecordedModule } from "./replay-module.ts";
import type { ServedReason } from "./replay-report.ts";
import type { ReplayContent, ReplaySource } from "./replay-source.ts";
import { ServedFromRecord } from "./served-from-record.ts";

/** What a call had available, according to its record. */
export interface ReplayCall {
  readonly requestId: string;
  readonly session: ToolSession;
  readonly seed: Uint8Array;
  readonly callNumber: number;
  readonly timeoutMs: number;
  readonly source: ReplaySource;
  /** Called at the first use of files. */
  readonly openFiles: () => WorkspaceFiles;
  /** Undefined for a tool that runs no programs, or whose effects reach outside the record. */
  openPrograms(signal: AbortSignal): ProgramAccess | undefined;
  /** Undefined for a tool that is not a module. */
  readonly module: RecordedModule | undefined;
}

const MAX_READ_BYTES = 64 * 1024 * 1024;
const MAX_HEAD_BYTES = 1024 * 1024;
const NO_SPENDING: SpendingAccess = { begin: () => undefined, settle: () => undefined };

/**
 * The ports of a replayed call: its own clock and random, the files and content of its record, and no access to the
 * outside.
 *
 * SECURITY: any other request of a tool ends its run and is noted, so a tool cannot hide it by catching the error.
 */
export class ReplayContext implements ToolContext {
  readonly requestId: string;
  readonly session: ToolSession;
  readonly callNumber: number;
  readonly nowMs: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly timeLeftMs: () => number;
  readonly changes: FileChange[] = [];
  /** Fuel used by a module. */
  fuelUsed: number | undefined;
  /** Why the call must be served from its record, once known. */
  served: ServedReason | undefined;
  readonly #call: ReplayCall;
  #files: WorkspaceFiles | undefined;
  #ending: AbortController | undefined;

  constructor(call: ReplayCall) {
    this.#call = call;
    this.requestId = call.requestId;
    this.session = call.session;
    this.callNumber = call.callNumber;
    this.nowMs = () => logicalTimeMs(call.callNumber);
    this.timeLeftMs = () => call.timeoutMs;
    let random: ReturnType<typeof createCallRandom> | undefined;
    this.randomBytes = (length) => (random ??= createCallRandom(call.seed, call.callNumber)).bytes(length);
  }

  /** Created on first use, because most tools do not need it. */
  get signal(): AbortSignal {
    this.#ending ??= new AbortController();
    return this.#ending.signal;
  }

  /** Stops everything that still runs. */
  end(): void {
    this.#ending?.abort("the replay of the call has ended");
  }

  /** Always allows: decisions are recorded, and replayed from the record separately. */
  get decide(): ToolContext["decide"] {
    return () => undefined;
  }

  get content(): ContentAccess {
    const find = async (hashHex: string): Promise<ReplayContent> => {
      const digest = fromHex(hashHex);
      const found = digest?.length === HASH_SIZE ? await this.#call.source.findContent(digest) : undefined;
      if (found !== undefined) return found;
      if (this.#call.source.omitsContent) throw this.#serve("left_out");
      throw new KernelError("CONTENT_NOT_FOUND", "this session holds no content with that hash");
    };
    return {
      stat: async (hash) => ({ hash, size: (await find(hash)).size, labels: [] }),
      read: async (hash, offset, limit) => await gather((await find(hash)).stream(offset, limit)),
      stream: async function* (hash, offset, limit) {
        yield* (await find(hash)).stream(offset, limit);
      },
      keep: hashChunks,
    };
  }

  get files(): FileAccess {
    return {
      run: async (operation) => {
        if (operation.kind === "list" || operation.kind === "inspect") throw this.#serve("listing");
        const access = operation.kind === "read" ? "read" : "write";
        try {
          const { openFiles, session } = this.#call;
          this.#files ??= openFiles();
          const place = { workspace: session.workspace, access } as const;
          const prepared = await this.#files.prepare(place, operation, this.signal);
          const answer = await prepared.commit();
          if (answer.kind === "changed") this.changes.push(...answer.changes);
          return answer.kind === "read" ? { ...answer, content: this.#watch(answer.content) } : answer;
        } catch (fault) {
          throw fault instanceof ServedFromRecord ? this.#serve(fault.reason) : fault;
        }
      },
      locateDirectory: () => Promise.reject(this.#serve("listing")),
      noteReading: () => undefined,
    };
  }

  get programs(): ProgramAccess {
    const programs = this.#call.openPrograms(this.signal);
    if (programs === undefined) throw this.#serve("programs");
    return programs;
  }

  get wasm(): WasmAccess {
    const { module } = this.#call;
    if (module === undefined) throw this.#serve("programs");
    const again = createReplayModule(module, this, (fuel) => {
      this.fuelUsed = fuel;
    });
    return {
      run: async (asked) => {
        try {
          return await again.run(asked);
        } catch (fault) {
          throw fault instanceof ServedFromRecord ? this.#serve(fault.reason) : fault;
        }
      },
    };
  }

  get artifacts(): never {
    throw this.#serve("artifacts");
  }

  get vault(): never {
    throw this.#serve("vault");
  }

  get shell(): never {
    throw this.#serve("shell");
  }

  get network(): never {
    throw this.#serve("network");
  }

  get pages(): never {
    throw this.#serve("pages");
  }

  get spending(): SpendingAccess {
    return NO_SPENDING;
  }

  async *#watch(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* content;
    } catch (fault) {
      throw fault instanceof ServedFromRecord ? this.#serve(fault.reason) : fault;
    }
  }

  #serve(reason: ServedReason): ServedFromRecord {
    this.served ??= reason;
    return new ServedFromRecord(reason);
  }
}

async function gather(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > MAX_READ_BYTES)
      throw new KernelError("RESOURCE_EXCEEDED", "read at most 64 MB at once; use offset and limit");
    parts.push(Buffer.from(chunk));
  }
  return Buffer.concat(parts);
}

/** Hashes content that a call would store; a replay stores nothing. */
async function hashChunks(chunks: AsyncIterable<Uint8Array>): Promise<PrintedOutput> {
  const hasher = createBlake3();
  const head: Uint8Array[] = [];
  let [size, held] = [0, 0];
  for await (const chunk of chunks) {
    hasher.update(chunk);
    size += chunk.length;
    const part = Buffer.from(chunk.subarray(0, MAX_HEAD_BYTES - held));
    held += part.length;
    if (part.length > 0) head.push(part);
  }
  return { hash: toHex(hasher.digest()), size, head: Buffer.concat(head) };
}
