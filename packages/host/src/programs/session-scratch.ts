import { lchown, lstat, mkdir, readdir, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { Containment } from "../sandbox/open-containment.ts";
import { type SandboxIdentity, type SandboxMount, SCRATCH_PATH } from "../sandbox/sandbox-plan.ts";
import type { DiskSpace } from "../storage/disk-space.ts";
import { StorageArea } from "../storage/storage-area.ts";
import { systemErrorCode } from "../system/system-error.ts";
import { findCacheParents } from "../toolchains/cache-directory.ts";
import { runCacheScript } from "../toolchains/run-cache-script.ts";

export interface ScratchOptions {
  readonly containment: () => Promise<Pick<Containment, "start">>;
  /** Directory that contains the homes of workspaces. */
  readonly cacheDirectory: string;
  readonly space: DiskSpace;
  readonly maxBytes: number;
}

/** The scratch directory as programs of one session use it. */
export interface ScratchUse {
  readonly mount: SandboxMount;
  readonly area: StorageArea;
}

const NAME = /^scratch-(ses_[a-z2-7]{20})$/;
const MAX_TRIES = 3;
const KILOBYTE = 1024;

/**
 * A private directory for each session, until the session ends.
 *
 * SECURITY: it belongs to the user that programs run as, who can replace its files with links at any moment. The
 * kernel, which may be root, never walks it: it is emptied in a sandbox as that user, then removed as an empty
 * directory from a parent that only the kernel can write. Tested by `test/attacks/privileged-races.test.ts`.
 */
export class SessionScratch {
  readonly #options: ScratchOptions;
  readonly #made = new Map<string, Promise<ScratchUse>>();

  constructor(options: ScratchOptions) {
    this.#options = options;
  }

  /**
   * `parent` contains the homes of workspaces: programs can traverse it, but not list it. A directory over its limit is emptied first.
   */
  async enter(sessionId: string, parent: string, identity: SandboxIdentity): Promise<ScratchUse> {
    const use = await this.#useFor(sessionId, parent, identity);
    if ((await use.area.findExceeded()) === undefined) return use;
    const containment = await this.#options.containment();
    await runCacheScript(containment, { source: use.mount.source, identity }, "empty");
    use.area.restart();
    return use;
  }

  #useFor(sessionId: string, parent: string, identity: SandboxIdentity): Promise<ScratchUse> {
    const known = this.#made.get(sessionId);
    if (known !== undefined) return known;
    const making = this.#make(join(parent, `scratch-${sessionId}`), identity);
    this.#made.set(sessionId, making);
    making.catch(() => this.#made.delete(sessionId));
    return making;
  }

  async #make(source: string, identity: SandboxIdentity): Promise<ScratchUse> {
    const { containment, space, maxBytes } = this.#options;
    const isNew = await makeScratch(source, identity);
    const measure = async (): Promise<number> =>
      KILOBYTE * (await runCacheScript(await containment(), { source, identity }, "measure"));
    const area = new StorageArea(
      { limit: "scratch", path: source, target: SCRATCH_PATH, maxBytes, knownBytes: isNew ? 0 : undefined, measure },
      space,
    );
    return { mount: { source, target: SCRATCH_PATH, access: "write" }, area };
  }

  /**
   * Removes the session's directory, even if an earlier kernel created it. Throws SANDBOX_ERROR if it cannot be
   * emptied.
   */
  async remove(sessionId: string): Promise<void> {
    const made = await this.#made.get(sessionId)?.catch(() => undefined);
    this.#made.delete(sessionId);
    const parents = new Set(await findCacheParents(this.#options.cacheDirectory));
    if (made !== undefined) parents.add(dirname(made.mount.source));
    for (const parent of parents) await this.#removeAt(join(parent, `scratch-${sessionId}`));
  }

  /** Removes directories of ended sessions that killed kernels left. Throws after all were tried if some remain. */
  async removeLeftovers(hasEnded: (sessionId: string) => Promise<boolean>): Promise<void> {
    const problems: unknown[] = [];
    for (const parent of await findCacheParents(this.#options.cacheDirectory)) {
      for (const name of await readdir(parent)) {
        const sessionId = NAME.exec(name)?.[1];
        if (sessionId === undefined || this.#made.has(sessionId) || !(await hasEnded(sessionId))) continue;
        await this.#removeAt(join(parent, name)).catch((fault: unknown) => problems.push(fault));
      }
    }
    if (problems.length > 0) throw new AggregateError(problems, `${problems.length} scratch directories stay`);
  }

  async #removeAt(path: string): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (await removeEmpty(path)) return;
      const { uid, gid } = await lstat(path);
      // Never handed to a program, so its content did not come from a session.
      if (uid === 0) break;
      const containment = await this.#options.containment();
      await runCacheScript(containment, { source: path, identity: { uid, gid } }, "empty");
    }
    if (await removeEmpty(path)) return;
    const message = `\`${path}\` could not be emptied; it is tried again when a kernel starts on this home`;
    throw new KernelError("SANDBOX_ERROR", message);
  }
}

/** Returns false if an earlier kernel created it. */
async function makeScratch(source: string, identity: SandboxIdentity): Promise<boolean> {
  const isNew = await mkdir(source, { mode: 0o700 }).then(
    () => true,
    (fault: unknown) => {
      if (systemErrorCode(fault) === "EEXIST") return false;
      throw fault;
    },
  );
  const facts = await lstat(source);
  // INVARIANT: only the kernel can write the parent, so from here on the name refers to the same directory.
  const isKernels = facts.uid === process.getuid?.();
  if (!facts.isDirectory() || !(isKernels || facts.uid === identity.uid)) {
    throw new KernelError(
      "SANDBOX_ERROR",
      `\`${source}\` is not a scratch directory of user ${identity.uid}: remove it`,
    );
  }
  if (facts.uid !== identity.uid) await lchown(source, identity.uid, identity.gid);
  return isNew;
}

/** Returns false if the directory is not empty. */
async function removeEmpty(path: string): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch (fault) {
    const code = systemErrorCode(fault);
    if (code === "ENOENT") return true;
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw fault;
  }
}
