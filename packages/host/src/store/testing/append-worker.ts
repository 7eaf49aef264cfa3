/** Appends as long as it can and prints what was acknowledged, until it is killed or reaches a limit. */
import { isKernelError } from "@narthex/contracts";
// Imported separately: loading the rest of the kit takes longer than the child lives.
import { createLedgerWrites } from "@narthex/testkit/ledger-writes";
import { openSqliteStore } from "../sqlite-store.ts";

const [directory = "", lanes = "1", padding = "0", lasting = "lasting"] = process.argv.slice(2);
const store = await openSqliteStore({ directory, isSingleThreaded: lasting === "brief" });
const write = createLedgerWrites((await store.head()).nextIndex);

async function appendUntilRefused(): Promise<void> {
  for (;;) {
    const next = write({ chain: "ses_crash", requestId: "r", padding: Number(padding) });
    const state = [{ table: "meta" as const, key: "last", value: Buffer.from(String(next.index)) }];
    await store.append({ ...next, state });
    process.stdout.write(`${next.index}\n`);
  }
}

const failures = await Promise.allSettled(Array.from({ length: Number(lanes) }, appendUntilRefused));
for (const failure of failures) {
  if (failure.status === "rejected") process.stdout.write(`refused ${describe(failure.reason)}\n`);
}
await store.append(write()).catch((error: unknown) => process.stdout.write(`afterwards ${describe(error)}\n`));
await store.close();

function describe(error: unknown): string {
  return isKernelError(error) ? `${error.code}: ${error.message}` : String(error);
}
