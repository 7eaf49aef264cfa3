import type { Column } from "../terminal/table.ts";
import { formatTime } from "../terminal/units.ts";
import { cutText } from "../terminal/visible.ts";
import { summariseCall, summariseRecord } from "./record-summary.ts";
import type { RecordView } from "./record-view.ts";

/** Given the terminal's width, limits the description of what a call acts on to about one line of its cell. */
export function recordColumns(
  records: readonly RecordView[],
  width: number | undefined,
): readonly Column<RecordView>[] {
  const maxSubject = width === undefined ? MAX_SUBJECT : Math.max(MIN_SUBJECT, width - OTHER_COLUMNS);
  const calls = new Map<string, string>();
  for (const view of records) {
    const call = summariseCall(view, { maxSubject });
    if (call !== undefined) calls.set(callKey(view), call);
  }
  const summary = (view: RecordView): string =>
    cutText(summariseRecord(view, { maxSubject, call: calls.get(callKey(view)) }), MAX_SUMMARY + maxSubject);
  return [...PLACE_COLUMNS, { title: "WHAT", narrow: "wrap", value: summary }];
}

function callKey({ record: { chain, requestId } }: RecordView): string {
  return `${chain}/${requestId}`;
}

/** Width of the other columns on a narrow terminal. */
const OTHER_COLUMNS = 34;
const MIN_SUBJECT = 24;
const MAX_SUBJECT = 160;
const MAX_SUMMARY = 160;

const PLACE_COLUMNS: readonly Column<RecordView>[] = [
  { title: "INDEX", align: "right", value: (view) => String(view.index) },
  {
    title: "TIME",
    narrow: (view) => formatTime(view.record.wallTimeMs).slice(5, 19),
    value: (view) => formatTime(view.record.wallTimeMs),
  },
  {
    title: "CHAIN",
    narrow: ({ record: { chain } }) => (chain.startsWith("ses_") ? `…${chain.slice(-6)}` : chain),
    value: (view) => view.record.chain,
  },
  { title: "REQUEST", narrow: "drop", value: (view) => cutText(view.record.requestId, 24) },
];
