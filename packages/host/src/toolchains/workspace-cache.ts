import { KernelError } from "@narthex/contracts";
import type { Containment } from "../sandbox/open-containment.ts";
import { HOME_PATH, type SandboxMount } from "../sandbox/sandbox-plan.ts";
import { type CachePlace, openCacheDirectory } from "./cache-directory.ts";
import { runCacheScript } from "./run-cache-script.ts";

/** What programs of one workspace have as HOME. It persists, and no other workspace sees it. */
export interface WorkspaceCache {
  readonly path: string;
  readonly maxBytes: number;
  /**
   * Takes the cache for one program. A cache over its limit is shrunk first if nobody uses it; one over twice its limit
   * throws RESOURCE_EXCEEDED.
   */
  enter(): Promise<CacheUse>;
}

export interface CacheUse {
  readonly mount: SandboxMount;
  /** At which a program that goes on filling it is ended. */
  readonly maxBytes: number;
  /** When it was last measured. */
  readonly knownBytes: number;
  /** What it holds now. */
  measure(): Promise<number>;
  /**
   * After the program ended. The cache is measured soon afterwards, once for all who left meanwhile, and is then within
   * its limit unless somebody uses it. Resolves at once; without a delay, when that is done.
   */
  leave(): Promise<void>;
}

export interface WorkspaceCacheOptions extends CachePlace {
  readonly containment: Pick<Containment, "start">;
  readonly maxBytes?: number;
  /** How long after the first who left the cache is measured. With 0 it is measured each time. */
  readonly delayMs?: number;
}

/** A measurement costs a sandbox: many calls in a row share one. */
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
    // INVARIANT: set in the same turn in which there was no user; nobody enters until it is over.
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

  /** SECURITY: not put off by those who leave later: a program that is called without end is measured all the same. */
  function settleSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      // What could not be measured is tried again by the next who enters or leaves.
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
