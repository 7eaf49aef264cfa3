import { access } from "node:fs/promises";
import { join } from "node:path";
import type { VerifyReport } from "@narthex/contracts";
import { homePaths, openContentFiles, openHome } from "@narthex/host";
import { type LedgerFile, openLedgerFile } from "@narthex/verify";
import { createFileLedgerSource } from "../ledger-source.ts";
import { CommandError } from "../terminal/command-error.ts";
import type { VerifyOptions } from "./kernel-connection.ts";
import { type ConnectionRequest, reachKernel, tryServicesConnection } from "./open-connection.ts";
import { verifySource } from "./verify-report.ts";

interface Verifiable {
  verify(options: VerifyOptions): Promise<VerifyReport>;
  close(): Promise<void>;
}

/**
 * Verifies the ledger of a home: through the kernel that holds it, else in this process, on the store alone. Starts no
 * kernel, so that a ledger on which no kernel would start can be examined.
 */
export async function verifyHome(request: ConnectionRequest, options: VerifyOptions): Promise<VerifyReport> {
  const ledger = await reachKernel<Verifiable, Verifiable>(request, {
    tryRemote: tryServicesConnection,
    openLocal: openOfflineLedger,
  });
  try {
    return await ledger.verify(options);
  } finally {
    await ledger.close();
  }
}

async function openOfflineLedger(path: string, waitMs: number): Promise<Verifiable> {
  await requireLedger(path);
  const home = await openHome({ path, command: "ledger verify", waitMs });
  try {
    const file = openFile(path, recordsFile(home.paths));
    const contentStore = await openContentFiles(home.paths.content);
    const source = createFileLedgerSource(file, recordsFile(home.paths), {
      contentStore,
      logDirectory: home.paths.merkle,
    });
    return {
      verify: (options) => verifySource(source, options),
      async close() {
        file.close();
        await home.close();
      },
    };
  } catch (error) {
    await home.close();
    throw error;
  }
}

function openFile(path: string, records: string): LedgerFile {
  try {
    return openLedgerFile(records);
  } catch (cause) {
    throw unreadableLedger(path, cause);
  }
}

function recordsFile({ store }: { readonly store: string }): string {
  return join(store, "records.db");
}

/** Throws if there is no ledger: verifying must not create one. */
export async function requireLedger(path: string): Promise<void> {
  await access(recordsFile(homePaths(path))).catch((cause: unknown) => {
    throw unreadableLedger(path, cause);
  });
}

export function unreadableLedger(path: string, cause: unknown): CommandError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CommandError("LEDGER_UNREADABLE", `the ledger of \`${path}\` cannot be read: ${reason}`, {
    cause,
    next: "check that --data DIR names the kernel's home; if it does, restore the home from a backup",
  });
}
