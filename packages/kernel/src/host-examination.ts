import type { HostExamination } from "./kernel-options.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { SYSTEM_CHAIN } from "./ledger/record-draft.ts";

const LEVELS = ["L0", "L1", "L2"];

/** What this host enforces, found out and recorded once. */
export interface ExaminedHost {
  /** Undefined until it was examined. */
  readonly level: string | undefined;
  examine(): Promise<string>;
}

export function createExaminedHost(
  examine: (() => Promise<HostExamination>) | undefined,
  ledger: Ledger,
): ExaminedHost {
  let level: string | undefined;
  let examining: Promise<string> | undefined;

  async function run(): Promise<string> {
    if (examine === undefined) return (level = "");
    const found = await examine();
    await ledger.append({ chain: SYSTEM_CHAIN, entries: [{ case: "hostExamined", value: found }], state: [] });
    level = found.level;
    return level;
  }

  return {
    get level() {
      return level;
    },
    examine() {
      examining ??= run();
      return examining;
    },
  };
}

/** Levels go from the strongest to none. What began without one has nothing to lose. */
export function isWeakerLevel(level: string, than: string): boolean {
  return LEVELS.indexOf(level) > LEVELS.indexOf(than) && LEVELS.includes(than);
}
