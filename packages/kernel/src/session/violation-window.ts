/** Error codes of a contained call that tried to leave its containment. Never includes invalid input. */
const CONTAINMENT_CODES: ReadonlySet<string> = new Set(["UNDECLARED_EFFECT", "PATH_ESCAPE", "NETWORK_BLOCKED"]);

export function isContainmentViolation(code: string): boolean {
  return CONTAINMENT_CODES.has(code);
}

/** Counts one session's containment violations. */
export interface ViolationWindow {
  /** Records a violation. Returns true once the limit was reached within the window, and from then on always. */
  note(nowMs: number): boolean;
}

export interface ViolationWindowOptions {
  readonly limit: number;
  readonly windowMs: number;
}

export const DEFAULT_VIOLATION_WINDOW: ViolationWindowOptions = { limit: 5, windowMs: 60_000 };

/** Keeps at most `limit` timestamps. */
export function createViolationWindow({ limit, windowMs }: ViolationWindowOptions): ViolationWindow {
  const moments: number[] = [];
  let isReached = false;
  return {
    note(nowMs) {
      moments.push(nowMs);
      if (moments.length > limit) moments.shift();
      const oldest = moments[0] ?? nowMs;
      isReached ||= moments.length >= limit && nowMs - oldest <= windowMs;
      return isReached;
    },
  };
}
