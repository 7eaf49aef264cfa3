import type { HostExamination, ToolReadiness } from "./kernel-options.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { SYSTEM_CHAIN } from "./ledger/record-draft.ts";
import type { ToolDeclaration } from "./tool/tool.ts";

const LEVELS = ["L0", "L1", "L2"];

/** What this host enforces, examined and recorded once. */
export interface ExaminedHost {
  /** Undefined until the host is examined. */
  readonly level: string | undefined;
  /** JSON text; empty until the host is examined. */
  readonly envelope: string;
  examine(): Promise<string>;
  /** Ready, unless the examination found otherwise. */
  stateOf(tool: ToolDeclaration): ToolReadiness;
}

const READY: ToolReadiness = { state: "ready", reason: "" };

export function createExaminedHost(
  examine: (() => Promise<HostExamination>) | undefined,
  ledger: Ledger,
): ExaminedHost {
  let level: string | undefined;
  let known: HostExamination | undefined;
  let examining: Promise<string> | undefined;

  async function run(): Promise<string> {
    if (examine === undefined) return (level = "");
    const found = await examine();
    const value = { level: found.level, envelope: found.envelope };
    await ledger.append({ chain: SYSTEM_CHAIN, entries: [{ case: "hostExamined", value }], state: [] });
    known = found;
    level = found.level;
    return level;
  }

  return {
    get level() {
      return level;
    },
    get envelope() {
      return known?.envelope ?? "";
    },
    stateOf: (tool) => known?.stateOf?.(tool) ?? READY,
    examine() {
      examining ??= run();
      return examining;
    },
  };
}

/**
 * Whether `level` is weaker than `than`; the levels are ordered from the strongest to none. False if `than` is no
 * level, because then there is nothing to lose.
 */
export function isWeakerLevel(level: string, than: string): boolean {
  return LEVELS.indexOf(level) > LEVELS.indexOf(than) && LEVELS.includes(than);
}
