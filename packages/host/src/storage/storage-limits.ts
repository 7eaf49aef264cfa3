/** What programs may take of the disks. */
export interface StorageLimits {
  /** The scratch directory of one session. */
  readonly scratchBytes: number;
  /** The home of one workspace: it is brought within this when unused, and a program that doubles it is ended. */
  readonly cacheBytes: number;
  /** What one call may add to its workspace. */
  readonly growthBytes: number;
  /** What must stay free on each disk: the smaller of the two. */
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
