import { fromBinary, RecordSchema } from "@narthex/contracts";

/** Entries that may change what a session may call. */
const CHANGES: ReadonlySet<string | undefined> = new Set([
  "policyLoaded",
  "toolRegistered",
  "toolUnregistered",
  "toolQuarantined",
]);

/** Chain in which changes that concern every session are recorded. */
export const CHANGES_CHAIN = "system";

/** Calls back for each record that may change the list of tools, until there are no more records. */
export async function watchToolChanges(
  records: AsyncIterable<{ readonly record: Uint8Array }>,
  onChange: () => void,
): Promise<void> {
  for await (const { record } of records) {
    if (fromBinary(RecordSchema, record).entries.some(({ kind }) => CHANGES.has(kind.case))) onChange();
  }
}
