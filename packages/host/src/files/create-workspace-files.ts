import { randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isKernelError, KernelError } from "@narthex/contracts";
import type { FileOperation, PreparedOperation, WorkspaceFiles, WorkspaceMount } from "@narthex/kernel";
import { type FoundWorkspace, findWorkspace } from "../sandbox/find-workspace.ts";
import { SandboxFiles, type SandboxMachine } from "../sandbox/sandbox-machine.ts";
import type { SandboxIdentity } from "../sandbox/sandbox-plan.ts";
import type { SandboxedProcess } from "../sandbox/spawn-sandbox.ts";
import { currentIdentity, identityUnder } from "../sandbox/workspace-identity.ts";
import { AppendQueue } from "./append-queue.ts";
import { checkOperation } from "./check-operation.ts";
import { quotePath } from "./explain-fault.ts";
import { FileWorker } from "./file-worker.ts";
import { prepareOperation } from "./prepare-operation.ts";
import { startFileWorker, type WorkerPlace } from "./start-file-worker.ts";
import { WorkerPool } from "./worker-pool.ts";
import { WorkerTicket } from "./worker-ticket.ts";

export interface WorkspaceFilesOptions {
  readonly machine: SandboxMachine;
  /**
   * Lower-case hex that identifies the kernel's home, which only one kernel uses at a time. Prefix of temporary names.
   */
  readonly owner: string;
  readonly identify?: (owner: SandboxIdentity, access: "read" | "write") => SandboxIdentity;
  readonly maxWorkers?: number;
  readonly idleMs?: number;
  /** Starts another program instead of the worker, for tests. */
  readonly start?: (place: WorkerPlace) => Promise<SandboxedProcess>;
}

export interface WorkspaceFilesDriver extends WorkspaceFiles {
  /** The running workers. */
  readonly workers: readonly FileWorker[];
  close(): Promise<void>;
}

const MAX_WORKERS = 32;
const MAX_OPERATIONS = 256;
const IDLE_MS = 60_000;
const START_MS = 30_000;
const MAX_SWEPT = 64;
const MAX_KNOWN = 1000;

/**
 * Accesses files of workspaces through sandboxed workers: one for each workspace and access mode, shared by all
 * sessions.
 */
export function createWorkspaceFiles(options: WorkspaceFilesOptions): WorkspaceFilesDriver {
  return new WorkerFiles(options);
}

/** A workspace as last inspected. */
interface KnownWorkspace {
  readonly place: WorkerPlace;
  /** Key of its worker in the pool. */
  readonly key: string;
  /** Device and inode. */
  readonly version: string;
}

class WorkerFiles implements WorkspaceFilesDriver {
  readonly #options: WorkspaceFilesOptions;
  readonly #pool: WorkerPool;
  readonly #appends = new AppendQueue();
  readonly #start: (place: WorkerPlace) => Promise<SandboxedProcess>;
  readonly #ownedPrefix: string;
  readonly #runPrefix: string;
  /** Temporary files that failed workers may have left, by worker key. */
  readonly #leftOver = new Map<string, Array<{ readonly path: string; readonly prefix: string }>>();
  readonly #known = new Map<string, KnownWorkspace>();
  readonly #prefixes = new WeakMap<FileWorker, string>();

  constructor(options: WorkspaceFilesOptions) {
    this.#options = options;
    const { maxWorkers = MAX_WORKERS, idleMs = IDLE_MS, machine } = options;
    this.#pool = new WorkerPool({ maxWorkers, maxUsers: MAX_OPERATIONS, idleMs });
    const files = new SandboxFiles(machine);
    this.#start = options.start ?? ((place) => startFileWorker(machine, files, place));
    this.#ownedPrefix = `.narthex-${options.owner}-`;
    this.#runPrefix = `${this.#ownedPrefix}${randomBytes(4).toString("hex")}-`;
  }

  get workers(): readonly FileWorker[] {
    return this.#pool.workers;
  }

  async prepare(place: WorkspaceMount, operation: FileOperation, signal: AbortSignal): Promise<PreparedOperation> {
    checkOperation(operation);
    const prepareNow = (): Promise<PreparedOperation> => this.#prepare(place, operation, signal);
    if (operation.kind !== "write" || operation.mode !== "append") return await prepareNow();
    return await this.#appends.prepare({ workspace: place.workspace, path: operation.path }, prepareNow, signal);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  /**
   * Sends the operation to the known worker while it verifies in parallel that the workspace is still the same, which
   * is usually the case.
   */
  async #prepare(place: WorkspaceMount, operation: FileOperation, signal: AbortSignal): Promise<PreparedOperation> {
    const finding = this.#look(place);
    const name = `${place.access}:${place.workspace}`;
    const known = this.#known.get(name);
    if (known !== undefined) {
      const [found, attempt] = await Promise.allSettled([finding, this.#prepareAt(known, operation, signal)]);
      if (found.status === "fulfilled" && found.value.version === known.version && found.value.key === known.key) {
        if (attempt.status === "fulfilled") return attempt.value;
        throw attempt.reason;
      }
      this.#known.delete(name);
      if (attempt.status === "fulfilled") await attempt.value.abandon();
    }
    await finding;
    const found = this.#identify(place, await findWorkspace(place.workspace));
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(name, found);
    return await this.#prepareAt(found, operation, signal);
  }

  /**
   * Identifies a workspace for comparison with the known one. SECURITY: follows links, so it can only confirm the known
   * workspace, never identify a new one.
   */
  async #look(place: WorkspaceMount): Promise<KnownWorkspace> {
    const { dev, ino, uid, gid } = await stat(place.workspace, { bigint: true }).catch((cause: unknown) => {
      throw new KernelError("FILE_NOT_FOUND", `the workspace ${quotePath(place.workspace)} is gone`, { cause });
    });
    return this.#identify(place, { device: dev, inode: ino, owner: { uid: Number(uid), gid: Number(gid) } });
  }

  #identify(place: WorkspaceMount, { device, inode, owner }: FoundWorkspace): KnownWorkspace {
    const identity = (this.#options.identify ?? identifyBy(place.workspace))(owner, place.access);
    const key = `${identity.uid}:${place.access}:${place.workspace}`;
    return { place: { ...place, identity }, key, version: `${device}:${inode}` };
  }

  async #prepareAt(
    { place, key, version }: KnownWorkspace,
    operation: FileOperation,
    signal: AbortSignal,
  ): Promise<PreparedOperation> {
    const start = (): Promise<FileWorker> => this.#startWorker(place, version, key);
    const borrowed = await this.#pool.borrow({ key, version, start }, signal);
    const ticket = new WorkerTicket(borrowed, operation, signal);
    try {
      return this.#remembering(await prepareOperation(ticket, operation), key, borrowed.worker);
    } catch (fault) {
      ticket.close();
      throw fault;
    }
  }

  async #startWorker(place: WorkerPlace, version: string, key: string): Promise<FileWorker> {
    const worker = new FileWorker(await this.#start(place));
    const temporaryPrefix = `${this.#runPrefix}${randomBytes(4).toString("hex")}-`;
    this.#prefixes.set(worker, temporaryPrefix);
    const fault = new KernelError("SANDBOX_ERROR", "the file worker did not start in time");
    const timer = setTimeout(() => worker.fail(fault), START_MS);
    try {
      const { reply } = await worker.ask(0, {
        type: "start",
        workspace: place.workspace,
        ownedPrefix: this.#ownedPrefix,
        runPrefix: this.#runPrefix,
        temporaryPrefix,
        sweep: this.#leftOver.get(key) ?? [],
      });
      this.#leftOver.delete(key);
      if (reply.type === "ready" && `${reply.device}:${reply.inode}` === version) return worker;
      throw new KernelError("SANDBOX_ERROR", "the workspace was replaced while its worker was started; call again");
    } catch (failure) {
      worker.fail(failure);
      throw failure;
    } finally {
      clearTimeout(timer);
    }
  }

  /** A worker that failed during a change may have left a temporary file, which the next worker removes. */
  #remembering(prepared: PreparedOperation, key: string, worker: FileWorker): PreparedOperation {
    return {
      ...prepared,
      commit: async () => {
        try {
          return await prepared.commit();
        } catch (fault) {
          if (isKernelError(fault) && fault.code === "SANDBOX_ERROR") this.#remember(key, worker, prepared.opened);
          throw fault;
        }
      },
    };
  }

  #remember(key: string, worker: FileWorker, opened: readonly string[]): void {
    const places = this.#leftOver.get(key) ?? [];
    const prefix = this.#prefixes.get(worker) ?? this.#runPrefix;
    places.push(...opened.map((path) => ({ path: dirname(path), prefix })));
    this.#leftOver.set(key, places.slice(-MAX_SWEPT));
  }
}

function identifyBy(workspace: string): NonNullable<WorkspaceFilesOptions["identify"]> {
  return (owner, access) => {
    const found = identityUnder(owner, workspace, currentIdentity());
    if (access === "read" || found.access === "write") return found.identity;
    throw new KernelError("SANDBOX_UNAVAILABLE", found.reason ?? "the workspace can only be read");
  };
}
