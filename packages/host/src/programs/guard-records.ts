import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isKernelError, KernelError } from "@narthex/contracts";
import { DurableDirectory } from "../home/durable-directory.ts";
import { removeDrafts } from "../home/private-file.ts";
import { systemErrorCode } from "../system/system-error.ts";
import { decodeRecord, encodeRecord, type GuardRecord, type RecordedScan, recordName } from "./guard-record.ts";

/** One program's part in the record of its workspace. */
export interface RecordedRun {
  /** Replaces this program's scan; resolves when the record is durable. */
  update(scan: RecordedScan): Promise<void>;
  /** Call when the program has ended or rests, and protected paths are unchanged or restored. */
  end(): void;
}

/** A workspace whose protected paths may have been changed. */
export interface UnfinishedWorkspace {
  /** Empty if the record is damaged. */
  readonly workspace: string;
  readonly name: string;
  /** Undefined if it is damaged. */
  readonly record: GuardRecord | undefined;
  readonly problem: string;
}

interface Place {
  readonly live: Map<RecordedRun, RecordedScan>;
  readonly sessions: Set<string>;
  /** Content of the file; undefined if there is no file. */
  durable: string | undefined;
  /** Serializes writes. */
  work: Promise<void>;
  timer: NodeJS.Timeout | undefined;
}

/** Delay before an idle record is removed: the next program usually follows soon and can reuse it. */
const IDLE_MS = 1000;
const MAX_SESSIONS = 64;

/**
 * Stores in the home which paths of a workspace were protected before programs ran there.
 *
 * INVARIANT: a record is durable before its program starts, and is removed only when protected paths are unchanged or
 * restored. So a record found at startup belongs to a program whose kernel was killed, or to one whose changes could
 * not be restored.
 */
export class GuardRecords {
  readonly #directory: DurableDirectory;
  readonly #idleMs: number;
  readonly #places = new Map<string, Place>();
  /** Keyed by record name. */
  readonly #unfinished = new Map<string, UnfinishedWorkspace>();

  constructor(directory: string, idleMs = IDLE_MS) {
    this.#directory = new DurableDirectory(directory);
    this.#idleMs = idleMs;
  }

  /** Loads the records that earlier kernels left. */
  async load(): Promise<void> {
    await removeDrafts(this.#directory.path).catch(() => undefined);
    for (const unfinished of await readUnfinished(this.#directory.path))
      this.#unfinished.set(unfinished.name, unfinished);
  }

  list(): UnfinishedWorkspace[] {
    return [...this.#unfinished.values()];
  }

  find(workspace: string): UnfinishedWorkspace | undefined {
    return this.#unfinished.get(recordName(workspace));
  }

  /** Records a program that is about to start. Throws STORE_UNAVAILABLE if the record cannot be made durable. */
  async begin(workspace: string, sessionId: string, scan: RecordedScan): Promise<RecordedRun> {
    const stay: RecordedRun = {
      update: async (next) => {
        const place = this.#placeOf(workspace);
        clearTimeout(place.timer);
        if (place.sessions.size >= MAX_SESSIONS) place.sessions.clear();
        place.sessions.add(sessionId);
        place.live.set(stay, next);
        await this.#write(workspace, place);
      },
      end: () => {
        const place = this.#placeOf(workspace);
        place.live.delete(stay);
        this.#removeLater(workspace, place);
      },
    };
    try {
      await stay.update(scan);
    } catch (fault) {
      stay.end();
      throw fault;
    }
    return stay;
  }

  /** Removes an idle record at once: a change that will not be restored is about to be allowed. */
  async forgetIdle(workspace: string): Promise<void> {
    const place = this.#places.get(workspace);
    if (place !== undefined && place.live.size === 0) await this.#remove(workspace, place);
  }

  /** Records that restoring failed; written to disk for the next start if possible. */
  async fail(workspace: string, problem: string): Promise<void> {
    const name = recordName(workspace);
    const earlier = this.#unfinished.get(name)?.record ?? this.#recordOf(workspace, this.#placeOf(workspace));
    const record = { ...earlier, problem, acceptedBy: "" };
    this.#unfinished.set(name, { workspace, name, record, problem });
    // If this fails, the file keeps its earlier content and the next start tries again.
    await this.#directory.write(name, encodeRecord(record)).catch(() => undefined);
  }

  /** Records an unsafe workspace without anything that could be restored: only a person can clear it. */
  async markUnsafe(workspace: string, sessionId: string, problem: string): Promise<void> {
    const name = recordName(workspace);
    const record = { workspace, sessions: [sessionId], scans: [], problem, acceptedBy: "" };
    this.#unfinished.set(name, { workspace, name, record, problem });
    await this.#directory.write(name, encodeRecord(record)).catch(() => undefined);
  }

  /** Returns the person who accepted the workspace since it was found unsafe; empty if none exists. */
  async acceptedBy(workspace: string): Promise<string> {
    const name = recordName(workspace);
    const text = await readFile(join(this.#directory.path, name), "utf8").catch(() => undefined);
    try {
      return text === undefined ? "" : decodeRecord(text, name).acceptedBy;
    } catch {
      return "";
    }
  }

  /** Clears a workspace whose protected paths are restored, or were accepted by a person. */
  async finish(workspace: string): Promise<void> {
    this.#unfinished.delete(recordName(workspace));
    const place = this.#placeOf(workspace);
    place.durable = undefined;
    if (place.live.size > 0) await this.#write(workspace, place);
    else await this.#remove(workspace, place);
  }

  /** Removes the records of workspaces in which no program runs. */
  async close(): Promise<void> {
    await Promise.all([...this.#places.keys()].map((workspace) => this.forgetIdle(workspace)));
    await this.#directory.close();
  }

  #placeOf(workspace: string): Place {
    const known = this.#places.get(workspace);
    if (known !== undefined) return known;
    const fresh: Place = {
      live: new Map(),
      sessions: new Set(),
      durable: undefined,
      work: Promise.resolve(),
      timer: undefined,
    };
    this.#places.set(workspace, fresh);
    return fresh;
  }

  #recordOf(workspace: string, { live, sessions }: Place): GuardRecord {
    return { workspace, sessions: [...sessions].sort(), scans: [...live.values()], problem: "", acceptedBy: "" };
  }

  /** Skips the write if the file already has this content: consecutive programs usually find the same state. */
  #write(workspace: string, place: Place): Promise<void> {
    const name = recordName(workspace);
    const writing = place.work.then(async () => {
      if (this.#unfinished.has(name) || place.live.size === 0) return;
      const text = encodeOnce(this.#recordOf(workspace, place));
      if (text === place.durable) return;
      try {
        await this.#directory.write(name, text);
      } catch (cause) {
        const why = systemErrorCode(cause) ?? "unknown error";
        const message = `the state of protected paths could not be written to the kernel's home (${why}), so nothing was run`;
        throw new KernelError("STORE_UNAVAILABLE", message, { cause });
      }
      place.durable = text;
    });
    place.work = writing.catch(() => undefined);
    return writing;
  }

  #removeLater(workspace: string, place: Place): void {
    if (place.live.size > 0) return;
    clearTimeout(place.timer);
    place.timer = setTimeout(() => void this.forgetIdle(workspace), this.#idleMs).unref();
  }

  async #remove(workspace: string, place: Place): Promise<void> {
    const name = recordName(workspace);
    clearTimeout(place.timer);
    place.work = place.work.then(async () => {
      if (place.live.size > 0 || this.#unfinished.has(name)) return;
      await this.#directory.remove(name).catch(() => undefined);
      place.durable = undefined;
      // A program that started meanwhile writes the record again.
      if (place.live.size === 0) this.#places.delete(workspace);
    });
    await place.work;
  }
}

/** Reads the records that kernels left in a home; also used without a running kernel. */
export async function readUnfinished(directory: string): Promise<UnfinishedWorkspace[]> {
  const names = await readdir(directory).catch(() => []);
  const found = names.filter((name) => RECORD.test(name)).map((name) => readRecord(directory, name));
  return (await Promise.all(found)).filter((record) => record !== undefined);
}

const RECORD = /^[0-9a-f]{32}\.json$/;

async function readRecord(directory: string, name: string): Promise<UnfinishedWorkspace | undefined> {
  const text = await readFile(join(directory, name), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const record = decodeRecord(text, name);
    return { workspace: record.workspace, name, record, problem: record.problem };
  } catch (fault) {
    const problem = isKernelError(fault) ? fault.message : "the record is damaged";
    return { workspace: "", name, record: undefined, problem };
  }
}

/** Writes the same scan only once for programs that are guarded in the same way. */
function encodeOnce(record: GuardRecord): string {
  if (record.scans.length < 2) return encodeRecord(record);
  const texts = new Map(record.scans.map((scan) => [encodeRecord({ ...record, scans: [scan] }), scan]));
  return encodeRecord({ ...record, scans: [...texts.values()] });
}
