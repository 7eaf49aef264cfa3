import { fromBinary, RecordSchema } from "@narthex/contracts";

/** What a session may call follows from these. */
const CHANGES: ReadonlySet<string | undefined> = new Set([
  "policyLoaded",
  "toolRegistered",
  "toolUnregistered",
  "toolQuarantined",
]);

/** The chain in which changes that concern every session are recorded. */
export const CHANGES_CHAIN = "system";

/** Tells of each record after which the list of tools may be another one, until there are no more records. */
export async function watchToolChanges(
  records: AsyncIterable<{ readonly record: Uint8Array }>,
  onChange: () => void,
): Promise<void> {
  for await (const { record } of records) {
    if (fromBinary(RecordSchema, record).entries.some(({ kind }) => CHANGES.has(kind.case))) onChange();
  }
}
