import { DEFAULT_VIEW_BYTES } from "@narthex/contracts";
import { createApprovals } from "./approval/approvals.ts";
import { createArtifacts } from "./artifact/artifacts.ts";
import { createAnswerArchive } from "./journal/answer-archive.ts";
import { createRequestMemory } from "./journal/request-memory.ts";
import type { KernelOptions, KernelSettings } from "./kernel-options.ts";
import type { KernelParts } from "./kernel-parts.ts";
import { DEFAULT_LEASE_TTL_MS } from "./lease/create-lease.ts";
import { createLedger } from "./ledger/ledger.ts";
import { SYSTEM_CHAIN } from "./ledger/record-draft.ts";
import { createRefusals } from "./ledger/refusals.ts";
import { createRegistry } from "./registry/registry.ts";
import { createContentLibrary } from "./result/content-library.ts";
import { createSessionTable } from "./session/session-table.ts";
import { DEFAULT_VIOLATION_WINDOW } from "./session/violation-window.ts";

const DEFAULT_SETTINGS: KernelSettings = {
  budgets: {},
  sessionTtlMs: DEFAULT_LEASE_TTL_MS,
  approvalExpiryMs: 10 * 60_000,
  // MCP clients give up at 60 s.
  approvalWaitMs: 45_000,
  viewBytes: DEFAULT_VIEW_BYTES,
  quarantine: DEFAULT_VIOLATION_WINDOW,
};

/** Whether the kernel takes calls. */
export interface Gate {
  closing: boolean;
}

/** Makes the engines from the ports and ties them together. */
export async function assembleParts(
  options: KernelOptions,
  gate: Gate,
): Promise<{ readonly parts: KernelParts; readonly settings: KernelSettings }> {
  const { store, contentStore, clock, random } = options;
  const settings = { ...DEFAULT_SETTINGS, ...options.settings };
  const log = options.log ?? (() => undefined);
  const ledger = await createLedger({
    store,
    clock,
    onFailure(failure) {
      gate.closing = true;
      log("error", failure.message, { cause: String(failure.cause) });
      options.onFailure?.(failure);
    },
  });
  await ledger.loadChain(SYSTEM_CHAIN);
  const registry = createRegistry();
  for (const tool of options.tools) registry.register(tool);
  const requests = createRequestMemory(store, random);
  const parts: KernelParts = {
    clock,
    random,
    store,
    contentStore,
    policy: options.policy,
    observer: options.observer,
    log,
    ledger,
    refusals: createRefusals(ledger),
    registry,
    sessions: createSessionTable({ store, ledger, requests }),
    requests,
    answers: createAnswerArchive({ store, contentStore, viewBytes: settings.viewBytes }),
    approvals: createApprovals({
      approver: options.approver,
      random,
      nowMs: () => ledger.nowMs(),
      expiryMs: settings.approvalExpiryMs,
      waitMs: settings.approvalWaitMs,
    }),
    content: createContentLibrary(store, contentStore),
    artifacts: createArtifacts({ store, ledger, random }),
    counters: { lateResults: 0, running: 0 },
    viewBytes: settings.viewBytes,
    quarantine: settings.quarantine,
    closing: () => gate.closing,
  };
  return { parts, settings };
}
