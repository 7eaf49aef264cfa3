import type { Column } from "../terminal/table.ts";
import { formatTime } from "../terminal/units.ts";
import { cutText } from "../terminal/visible.ts";
import { summariseRecord } from "./record-summary.ts";
import type { RecordView } from "./record-view.ts";

export const RECORD_COLUMNS: readonly Column<RecordView>[] = [
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
  { title: "WHAT", narrow: "wrap", value: (view) => cutText(summariseRecord(view), 160) },
];
