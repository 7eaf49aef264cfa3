import { KernelError } from "@narthex/contracts";
import type { Containment } from "../sandbox/open-containment.ts";
import { HOME_PATH, type SandboxMount } from "../sandbox/sandbox-plan.ts";
import { type CachePlace, openCacheDirectory } from "./cache-directory.ts";
import { runCacheScript } from "./run-cache-script.ts";

/** The HOME of programs of one workspace. It is persistent and not visible in other workspaces. */
export interface WorkspaceCache {
  readonly path: string;
  readonly maxBytes: number;
  /**
   * Acquires the cache for one program. A cache over its limit is shrunk first if it is not in use; one over twice its
   * limit throws RESOURCE_EXCEEDED.
   */
  enter(): Promise<CacheUse>;
}

export interface CacheUse {
  readonly mount: SandboxMount;
  /** Size at which a program that keeps filling it is ended. */
  readonly maxBytes: number;
  /** Size when it was last measured. */
  readonly knownBytes: number;
  /** Measures the current size. */
  measure(): Promise<number>;
  /**
   * Releases the cache after the program has ended. It is measured soon afterwards, once for all releases meanwhile,
   * and shrunk to its limit unless it is in use. Resolves at once; without a delay, when that is done.
   */
  leave(): Promise<void>;
}

export interface WorkspaceCacheOptions extends CachePlace {
  readonly containment: Pick<Containment, "start">;
  readonly maxBytes?: number;
  /** Delay from the first release until the cache is measured. With 0 it is measured at each release. */
  readonly delayMs?: number;
}

/** A measurement needs a sandbox, so successive calls share one. */
const DELAY_MS = 2000;

const CACHE_LIMITS = { bytes: 2 * 1024 * 1024 * 1024, refusedAtTimes: 2, units: 1000 } as const;

const KILOBYTE = 1024;

export async function openWorkspaceCache(options: WorkspaceCacheOptions): Promise<WorkspaceCache> {
  const { containment, maxBytes = CACHE_LIMITS.bytes, delayMs = DELAY_MS } = options;
  const path = await openCacheDirectory(options);
  const mount: SandboxMount = { source: path, target: HOME_PATH, access: "write" };
  const maxKilobytes = Math.floor(maxBytes / KILOBYTE);
  const written = { source: path, identity: options.identity };
  const work = (...words: readonly string[]): Promise<number> => runCacheScript(containment, written, ...words);

  let users = 0;
  let kilobytes: number | undefined;
  let isStale = true;
  let shrinking: Promise<void> | undefined;
  let settling: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function settle(): Promise<void> {
    while (isStale) {
      isStale = false;
      kilobytes = await work("measure");
    }
    if (users > 0 || (kilobytes ?? 0) <= maxKilobytes) return;
    // INVARIANT: set in the same turn in which there was no user; `enter` waits until it is done.
    shrinking = shrink().finally(() => {
      shrinking = undefined;
    });
    await shrinking;
  }

  async function shrink(): Promise<void> {
    kilobytes = await work("shrink", String(maxKilobytes), String(CACHE_LIMITS.units));
    if (kilobytes > maxKilobytes) kilobytes = await work("empty");
  }

  function settleOnce(): Promise<void> {
    settling ??= settle().finally(() => {
      settling = undefined;
    });
    return settling;
  }

  /** SECURITY: later releases do not postpone it: even if programs are started without pause, the cache is measured. */
  function settleSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      // After a failure, the next enter or release measures again.
      settleOnce().catch(() => (kilobytes = undefined));
    }, delayMs).unref();
  }

  return {
    path,
    maxBytes,
    async enter() {
      for (let tries = 0; ; ) {
        if (shrinking !== undefined) await shrinking;
        else if (kilobytes === undefined || (kilobytes > maxKilobytes && users === 0 && tries === 0)) {
          tries++;
          isStale = true;
          await settleOnce();
        } else break;
      }
      if (kilobytes > CACHE_LIMITS.refusedAtTimes * maxKilobytes) throw overfull(path, kilobytes, maxKilobytes);
      users++;
      let hasLeft = false;
      return {
        mount,
        maxBytes: CACHE_LIMITS.refusedAtTimes * maxBytes,
        knownBytes: kilobytes * KILOBYTE,
        measure: async () => KILOBYTE * (await work("measure")),
        async leave() {
          if (hasLeft) return;
          hasLeft = true;
          users--;
          isStale = true;
          if (delayMs === 0) await settleOnce();
          else settleSoon();
        },
      };
    },
  };
}

function overfull(path: string, kilobytes: number, allowed: number): KernelError {
  const used = Number.isFinite(kilobytes) ? `${Math.ceil(kilobytes / KILOBYTE)} MB` : "more than can be counted";
  return new KernelError(
    "RESOURCE_EXCEEDED",
    `cache: at most ${Math.ceil(allowed / KILOBYTE)} MB are allowed in \`${HOME_PATH}\`, and it holds ${used}; ` +
      `it is emptied when no other call uses it, or remove \`${path}\``,
  );
}
