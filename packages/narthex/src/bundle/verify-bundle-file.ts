import type { VerifyReport } from "@narthex/contracts";
import { verifyBundle } from "@narthex/verify";
import type { VerifyOptions } from "../connection/kernel-connection.ts";
import { toVerifyReport } from "../connection/verify-report.ts";
import { withBundle } from "./bundle-file.ts";

/** Has the independent reader read a bundle. Needs no home. Throws LEDGER_UNREADABLE for what is no bundle. */
export async function verifyBundleFile(path: string, { signal, onProgress }: VerifyOptions): Promise<VerifyReport> {
  return await withBundle(path, async (bundle) =>
    toVerifyReport(
      await verifyBundle(bundle, {
        signal,
        onProgress: ({ recordsDone, recordsTotal }) => onProgress(recordsDone, recordsTotal),
      }),
    ),
  );
}
