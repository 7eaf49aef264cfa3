import { DEFAULT_VIEW_BYTES, HASH_SIZE, MAX_INLINE_RESULT_BYTES, parseJson } from "@narthex/contracts";
import { createApprovals } from "./approval/approvals.ts";
import { createArtifacts } from "./artifact/artifacts.ts";
import { mayChangeProtected } from "./call/decide/may-change-protected.ts";
import { createProtectedPaths } from "./policy/protected-paths.ts";
import { createSecretPaths } from "./call/grant/secret-paths.ts";
import { redecide, decideHost } from "./call/redecide.ts";
import { createContentUses } from "./erasure/content-uses.ts";
import { ReadWriteLock } from "./erasure/read-write-lock.ts";
import { createTrackedContentStore } from "./erasure/tracked-content-store.ts";
import { createExaminedHost } from "./host-examination.ts";
import { createResponseArchive } from "./journal/response-archive.ts";
import { createUsedRequestIds } from "./journal/used-request-ids.ts";
import type { KernelOptions, KernelSettings } from "./kernel-options.ts";
import type { KernelParts } from "./kernel-parts.ts";
import { loadWorkspaceLabels } from "./label/workspace-labels.ts";
import { DEFAULT_LEASE_TTL_MS } from "./lease/create-lease.ts";
import { createLedger } from "./ledger/ledger.ts";
import { SYSTEM_CHAIN } from "./ledger/record-draft.ts";
import { createRefusals } from "./ledger/refusals.ts";
import { createCheckpoints } from "./merkle/checkpoints.ts";
import type { Logger } from "./ports.ts";
import { createReloadablePolicy } from "./policy/reloadable-policy.ts";
import { createRegistry } from "./registry/registry.ts";
import { sealRedactors } from "./registry/seal-tool.ts";
import { createContentLibrary } from "./result/content-library.ts";
import { describeFault } from "./result/describe-fault.ts";
import { createHeldContent } from "./result/held-content.ts";
import { plainText } from "./result/plain-text.ts";
import { redactText } from "./result/redact.ts";
import { guardContent } from "./secret/guarded-content.ts";
import { createPlacedFilesLearner } from "./secret/learn-placed-files.ts";
import { loadPlacedFiles } from "./secret/placed-files.ts";
import { KnownSecrets } from "./secret/known-secrets.ts";
import { createDescendantCheck } from "./session/descendant-check.ts";
import { LeaseEndListeners } from "./session/lease-end-listeners.ts";
import { SessionExpiry } from "./session/session-expiry.ts";
import { createSessionTable } from "./session/session-table.ts";
import { DEFAULT_VIOLATION_WINDOW } from "./session/violation-window.ts";
import type { ToolDeclaration } from "./tool/tool.ts";

const DEFAULT_SETTINGS: KernelSettings = {
  budgets: {},
  hosts: [],
  maxStoredBytes: Number.POSITIVE_INFINITY,
  sessionTtlMs: DEFAULT_LEASE_TTL_MS,
  approvalExpiryMs: 10 * 60_000,
  // Below the 60 s after which MCP clients give up.
  approvalWaitMs: 45_000,
  // The maximum that a tool can declare.
  viewBytes: MAX_INLINE_RESULT_BYTES,
  quarantine: DEFAULT_VIOLATION_WINDOW,
  checkpoints: { everyRecords: 1000, everyMs: 60_000 },
  retention: { maxAgeMs: 14 * 24 * 3_600_000, maxBytes: 5 * 1024 ** 3 },
  // Retention does not run by default.
  retentionEveryMs: 0,
};

/** Maximum number of requests by the programs of one call; installing many packages takes some hundreds. */
const PROGRAM_REQUESTS = 10_000;

/** Shared flag that stops the kernel from accepting calls. */
export interface KernelLifecycle {
  closing: boolean;
}

/** Creates the kernel's parts from the ports and connects them. */
export async function assembleParts(
  options: KernelOptions,
  gate: KernelLifecycle,
): Promise<{ readonly parts: KernelParts; readonly settings: KernelSettings }> {
  const { store, clock, random } = options;
  const uses = createContentUses();
  const redactors = sealRedactors(options.redactors ?? []);
  const secrets = new KnownSecrets(redactors, () => options.redactionKey ?? random.bytes(HASH_SIZE));
  const contentStore = createTrackedContentStore(guardContent(options.contentStore, secrets), uses);
  const settings = { ...DEFAULT_SETTINGS, ...options.settings };
  const log = createSafeLogger(options.logger, secrets);
  const ledger = await createLedger({
    store,
    clock,
    secrets,
    onFailure(failure) {
      gate.closing = true;
      log("error", failure.message, { cause: describeFault(failure.cause) });
      try {
        options.onFailure?.(failure);
      } catch (fault) {
        log("error", "the failure could not be reported", { cause: describeFault(fault) });
      }
    },
  });
  await ledger.loadChain(SYSTEM_CHAIN);
  const held = createHeldContent();
  const placed = await loadPlacedFiles(store);
  const registry = createRegistry(redactors);
  const isDescendant = createDescendantCheck(store);
  for (const tool of options.tools) registry.register(tool);
  const requests = createUsedRequestIds(store, random);
  const viewBytesOf = (tool: Pick<ToolDeclaration, "bounds">) =>
    Math.min(tool.bounds.maxOutputBytes, settings.viewBytes);
  const parts: KernelParts = {
    clock,
    random,
    store,
    contentStore,
    publicStore: createTrackedContentStore(options.contentStore, uses),
    contentUses: uses,
    erasureLock: new ReadWriteLock(),
    policy: createReloadablePolicy(options.policy),
    policySource: options.policySource,
    policyMode: options.policyMode ?? "enforce",
    observer: options.observer,
    logger: log,
    ledger,
    refusals: createRefusals(ledger),
    checkpoints:
      options.merkle &&
      createCheckpoints({
        ...options.merkle,
        store,
        ledger,
        random,
        clock,
        logger: log,
        settings: settings.checkpoints,
      }),
    registry,
    sessions: createSessionTable({ store, ledger, requests, maxStoredBytes: settings.maxStoredBytes }),
    expiry: new SessionExpiry(),
    leaseEndListeners: new LeaseEndListeners(),
    runtimeTools: new Set(),
    usedRequestIds: requests,
    responses: createResponseArchive({
      store,
      contentStore,
      viewBytesOf(toolId) {
        const [name = "", version = ""] = toolId.split("@");
        const found = registry.resolve(name, version);
        return found === undefined ? Math.min(DEFAULT_VIEW_BYTES, settings.viewBytes) : viewBytesOf(found.tool);
      },
      firstLineOf(toolId, input) {
        const [name = "", version = ""] = toolId.split("@");
        const tool = registry.resolve(name, version)?.tool;
        return tool?.firstLine === undefined || input.length === 0 ? undefined : tool.firstLine(parseJson(input));
      },
      plainTextOf(toolId, result) {
        const [name = "", version = ""] = toolId.split("@");
        const tool = registry.resolve(name, version)?.tool;
        return tool?.textView === undefined ? undefined : plainText(tool, parseJson(result));
      },
    }),
    approvals: createApprovals({
      approver: options.approver,
      rules: options.rules,
      random,
      nowMs: () => ledger.nowMs(),
      append: (draft) => ledger.append(draft),
      expiryMs: settings.approvalExpiryMs,
      waitMs: settings.approvalWaitMs,
    }),
    content: createContentLibrary({ store, files: contentStore, held, uses, isDescendant }),
    secrets,
    heldContent: held,
    placedFiles: placed,
    learnPlaced: createPlacedFilesLearner(placed, secrets, options.files, log),
    isDescendant,
    artifacts: createArtifacts({ store, ledger, random, uses, recordedId: (id) => secrets.recordedId(id) }),
    workspaceLabels: await loadWorkspaceLabels(store),
    files: options.files,
    programs: options.programs,
    shells: options.shells,
    vault: options.vault,
    egress: options.egress,
    egressCredentials: options.egressCredentials ?? new Map(),
    programRequests: PROGRAM_REQUESTS,
    pages: options.pages,
    wasm: options.wasm,
    secretNames: options.secretNames ?? new Set(),
    decideHost,
    isProtected: createProtectedPaths(options.protectedPaths ?? []),
    commandName: options.commandName ?? "narthex",
    trustedPaths: options.trustedPaths,
    isSecret: createSecretPaths(options.secretPaths ?? []),
    host: createExaminedHost(options.examineHost?.bind(options), ledger),
    adoptWorkspace: options.adoptWorkspace?.bind(options),
    mayChangeProtected,
    redecide,
    settlingIntents: new Set(),
    counters: { lateResults: 0, running: 0 },
    viewBytesOf,
    quarantine: settings.quarantine,
    closing: () => gate.closing,
  };
  return { parts, settings };
}

/** Wraps the operator's logger: hides secrets, and ignores errors, because a failing logger must not fail a call. */
function createSafeLogger(log: Logger | undefined, secrets: KnownSecrets): Logger {
  if (log === undefined) return () => undefined;
  return (level, message, fields) => {
    try {
      log(level, redactText(message, secrets.all), hideInFields(fields, secrets));
    } catch {
      // The logger itself has failed, so the error cannot be reported.
    }
  };
}

function hideInFields(fields: Parameters<Logger>[2], secrets: KnownSecrets): Parameters<Logger>[2] {
  if (fields === undefined || secrets.all.length === 0) return fields;
  const hidden: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    hidden[name] = typeof value === "string" ? redactText(value, secrets.all) : value;
  }
  return hidden;
}
