/** Disk space that programs may use. */
export interface StorageLimits {
  /** Scratch directory of one session. */
  readonly scratchBytes: number;
  /** Home of one workspace: shrunk to this size when unused; a program that grows it to twice the size is ended. */
  readonly cacheBytes: number;
  /** Bytes that one call may add to its workspace. */
  readonly growthBytes: number;
  /** Space that must stay free on each disk: the smaller of both values. */
  readonly reserveBytes: number;
  readonly reservePercent: number;
}

const GB = 1024 ** 3;

export const DEFAULT_STORAGE_LIMITS: StorageLimits = {
  scratchBytes: 4 * GB,
  cacheBytes: 2 * GB,
  growthBytes: 10 * GB,
  reserveBytes: GB,
  reservePercent: 5,
};
