import type { SessionInfo } from "@narthex/contracts";
import { usageError } from "../terminal/command-error.ts";
import { parseDurationMs } from "../terminal/units.ts";
import type { OptionDescription } from "./command.ts";
import type { OptionReader } from "./option-reader.ts";
import type { RecordView } from "./record-view.ts";

export const FILTER_OPTIONS: readonly OptionDescription[] = [
  { flags: "--tool <name>", description: "only calls of this tool: NAME, or NAME@VERSION" },
  { flags: "--agent <name>", description: "only sessions of this agent" },
  { flags: "--denied", description: "only calls that were denied" },
  { flags: "--since <when>", description: "only records since then: 30m, 2h, 1d, or a time such as 2026-03-01T12:00Z" },
];

/** Conditions that narrow a listing. */
export interface RecordFilter {
  readonly tool: string | undefined;
  readonly agent: string | undefined;
  readonly denied: boolean;
  readonly sinceMs: number | undefined;
}

/** Returns undefined if no option narrows the listing. */
export function readRecordFilter(options: OptionReader, nowMs: number): RecordFilter | undefined {
  const since = options.text("since");
  const filter = {
    tool: options.text("tool"),
    agent: options.text("agent"),
    denied: options.flag("denied"),
    sinceMs: since === undefined ? undefined : parseSince(since, nowMs),
  };
  const isSet = filter.denied || [filter.tool, filter.agent, filter.sinceMs].some((value) => value !== undefined);
  return isSet ? filter : undefined;
}

function parseSince(text: string, nowMs: number): number {
  const ago = parseDurationMs(text);
  const at = ago === undefined ? Date.parse(text) : nowMs - ago;
  if (!Number.isNaN(at)) return at;
  throw usageError(
    `--since takes a duration such as 2h, or a time such as 2026-03-01T12:00Z, not \`${text.slice(0, 60)}\``,
  );
}

/** Maximum number of matching calls remembered for their later records; the oldest are dropped first. */
const MAX_CALLS = 10_000;

/**
 * Creates a function that says whether a record, taken in ledger order, belongs in the listing. All records of a
 * matching call belong, because the record of the outcome does not name the tool.
 */
export function createRecordMatcher(
  { tool, agent, denied, sinceMs = 0 }: RecordFilter,
  sessions: readonly SessionInfo[],
): (view: RecordView) => boolean {
  const agents = new Map(sessions.map((session) => [session.sessionId, session.agent]));
  const calls = new Map<string, true>();
  const isOfTool = ({ record }: RecordView): boolean => {
    const key = `${record.chain}/${record.requestId}`;
    const isInvoked = record.entries.some(
      ({ kind }) =>
        kind.case === "toolInvoked" &&
        (kind.value.toolName === tool || `${kind.value.toolName}@${kind.value.toolVersion}` === tool),
    );
    if (isInvoked) calls.set(key, true);
    const [oldest] = calls.keys();
    if (calls.size > MAX_CALLS && oldest !== undefined) calls.delete(oldest);
    return isInvoked || (record.requestId !== "" && calls.has(key));
  };
  return (view) => {
    const ofTool = tool === undefined || isOfTool(view);
    if (!ofTool || Number(view.record.wallTimeMs) < sinceMs) return false;
    if (agent !== undefined && agents.get(view.record.chain) !== agent) return false;
    return !denied || isDenied(view);
  };
}

function isDenied({ record }: RecordView): boolean {
  return record.entries.some(({ kind }) => kind.case === "toolDenied" || kind.case === "requestRefused");
}
