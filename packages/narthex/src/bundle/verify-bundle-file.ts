import type { VerifyReport } from "@narthex/contracts";
import { verifyBundle } from "@narthex/verify";
import type { VerifyOptions } from "../connection/kernel-connection.ts";
import { verifyWith } from "../connection/verify-report.ts";
import { usageError } from "../terminal/command-error.ts";
import { withBundle } from "./bundle-file.ts";

/**
 * Verifies a bundle with the independent reader. Needs no home. Throws LEDGER_UNREADABLE if the file is not a bundle.
 */
export async function verifyBundleFile(path: string, options: VerifyOptions): Promise<VerifyReport> {
  return await withBundle(path, (bundle) => {
    if (bundle.chain !== "" && options.checkpoints.length > 0) {
      throw usageError("a kept checkpoint can be held against a whole ledger only, and this bundle is of one session");
    }
    return verifyWith((asked) => verifyBundle(bundle, asked), options);
  });
}
