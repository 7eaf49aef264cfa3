import { ContentRole, KernelError } from "@narthex/contracts";
import { assembleParts, type KernelLifecycle } from "./assemble-parts.ts";
import { callInProcess, callOverWire } from "./call/call-entry-points.ts";
import { checkOptions } from "./check-options.ts";
import { closeKernel } from "./close-kernel.ts";
import { collectGarbage } from "./erasure/collect-garbage.ts";
import { eraseContent } from "./erasure/erase-content.ts";
import { resumeErasing } from "./erasure/resume-erasing.ts";
import { startRetention } from "./erasure/start-retention.ts";
import { recordHook } from "./hook/record-hook.ts";
import { listIntents } from "./journal/list-intents.ts";
import { reconcileIntents } from "./journal/reconcile.ts";
import { settleManually } from "./journal/settle-manually.ts";
import type { HostPattern } from "./capability/capability.ts";
import type { ContentReading, Kernel } from "./kernel.ts";
import type { KernelOptions } from "./kernel-options.ts";
import type { KernelParts } from "./kernel-parts.ts";
import { clearWorkspaceLabels } from "./label/clear-workspace-labels.ts";
import { listWorkspaceLabels } from "./label/list-workspace-labels.ts";
import { prepareStartRecord } from "./ledger/prepare-start-record.ts";
import type { EntryDraft } from "./ledger/record-draft.ts";
import { tailRecords } from "./ledger/tail-records.ts";
import { type ExplainParts, explainCall } from "./policy/explain-call.ts";
import { sessionLabels } from "./label/session-labels.ts";
import { createPolicyReloader, policyFacts } from "./policy/reload-policy.ts";
import { listTools, toolFacts } from "./registry/list-tools.ts";
import type { Checkpoints } from "./merkle/checkpoints.ts";
import { quarantineTool } from "./registry/quarantine-tool.ts";
import { registerTool } from "./registry/register-tool.ts";
import { unregisterTool } from "./registry/unregister-tool.ts";
import type { FoundContent } from "./result/content-library.ts";
import { grantContent } from "./result/grant-content.ts";
import { METHOD_OPTIONS } from "./method-options.ts";
import { putContent } from "./result/put-content.ts";
import { closeSession } from "./session/close-session.ts";
import { delegateLease } from "./session/delegate-lease.ts";
import { describeSession } from "./session/describe-session.ts";
import { describeLease, findHolder } from "./session/find-lease.ts";
import { hostRights } from "./lease/create-lease.ts";
import { exampleSession } from "./session/example-session.ts";
import { listSessions } from "./session/list-sessions.ts";
import type { LiveSession } from "./session/live-session.ts";
import { openSession } from "./session/open-session.ts";
import { refuseUnknownOpenOptions } from "./session/validate-open-options.ts";
import { requireOpen, requireUsable } from "./session/require-open.ts";
import { removeLeftovers } from "./session/remove-leftovers.ts";
import { releaseLease } from "./session/release-lease.ts";
import { revokeLease } from "./session/revoke-lease.ts";
import { settleRestored } from "./restore/settle-restored.ts";
import { undo } from "./undo/undo.ts";
import { watchProtection } from "./watch-protection.ts";

/** Interval between checks whether a checkpoint is due, and therefore the minimum time between two checkpoints. */
const TICK_MS = 1000;

/** Starts a kernel on its ports: settles calls that a crash interrupted, and accepts calls. */
export async function startKernel(options: KernelOptions): Promise<Kernel> {
  const gate: KernelLifecycle = { closing: false };
  const { parts, settings } = await assembleParts(options, gate);
  await prepareStartRecord(options.version, parts);
  const isCopy = await settleRestored(parts);
  const reconciled = await reconcileIntents(parts);
  if (!isCopy) await parts.approvals.recover(parts.store);
  await watchProtection(parts);
  // Loads the sessions with standing approvals, so that the expiry sweep closes those that expired while no kernel was
  // running.
  const answered = new Set(parts.approvals.list().standing.map(({ sessionId }) => sessionId));
  for (const sessionId of answered) if (sessionId !== "") await parts.sessions.find(sessionId);
  // Calls that could not be settled stay unknown; but if the ledger cannot be written at all, the kernel does not
  // start.
  if (parts.ledger.failure !== undefined) throw parts.ledger.failure;
  if (reconciled.unknown > 0) {
    // At level `info`, which only long-running kernels show: a command that opens the home briefly would report it
    // every time.
    parts.logger("info", "calls with an unknown outcome wait in the journal: see `narthex journal`", {
      count: reconciled.unknown,
    });
  }
  const explaining: ExplainParts = {
    ...parts,
    nowMs: () => parts.ledger.nowMs(),
    labelsOf: (live, effects) => sessionLabels(live, effects, parts),
  };
  const reloader = createPolicyReloader(parts);
  await resumeErasing(parts);
  parts.expiry.start(parts);
  const endRetention = startRetention(settings.retention, settings.retentionEveryMs, parts);
  options.watchTools?.((change) => quarantineTool(change, parts));
  let closed: Promise<void> | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let tidying: Promise<void> | undefined;
  const facts = (live: LiveSession) => describeSession(live, parts.ledger.nowMs());
  const realWorkspace = async (workspace: string) => (await options.resolveWorkspace?.(workspace)) ?? workspace;

  return {
    async announce() {
      await parts.host.examine();
      await parts.ledger.writePreface();
      parts.checkpoints?.serve();
      tidying ??= removeLeftovers(parts);
      ticking ??= setInterval(() => void parts.checkpoints?.tick(), TICK_MS).unref();
    },
    call: (call) => callOverWire(call, parts),
    callInProcess: (call) => callInProcess(call, parts),

    async openSession(request) {
      if (gate.closing) throw new KernelError("STORE_UNAVAILABLE", "the kernel is shutting down");
      refuseUnknownOpenOptions(request);
      const workspace = await realWorkspace(request.workspace);
      const { budgets, sessionTtlMs: ttlMs, hosts } = settings;
      const defaults = { budgets, ttlMs, hosts };
      const { live, token } = await openSession({ ...request, workspace }, defaults, parts);
      return { session: facts(live), token };
    },
    async closeSession(sessionId) {
      checkOptions({ sessionId }, METHOD_OPTIONS.closeSession, "closeSession");
      return facts(await closeSession(sessionId, "closed", parts));
    },
    async getSession(sessionId) {
      const live = await parts.sessions.find(sessionId);
      return live && facts(live);
    },
    async listSessions(query) {
      checkOptions(query, METHOD_OPTIONS.listSessions, "listSessions");
      return listSessions(query, parts);
    },
    async delegateLease(delegation) {
      if (gate.closing) throw new KernelError("STORE_UNAVAILABLE", "the kernel is shutting down");
      const { live, token } = await parts.contentUses.during(() => delegateLease(delegation, parts));
      return { session: facts(live), token };
    },
    async releaseLease(release) {
      checkOptions(release, METHOD_OPTIONS.releaseLease, "releaseLease");
      return releaseLease(release, parts);
    },
    async getLease(leaseId) {
      checkOptions({ leaseId }, METHOD_OPTIONS.getLease, "getLease");
      return describeLease(await findHolder(leaseId, parts), parts.ledger.nowMs());
    },
    async revokeLease(revocation) {
      checkOptions(revocation, METHOD_OPTIONS.revokeLease, "revokeLease");
      return revokeLease(revocation, parts);
    },
    authenticate: async (token) => facts(requireOpen(await parts.sessions.authenticate(token), parts.ledger.nowMs())),

    async examineHost() {
      const level = await parts.host.examine();
      return { level, envelope: parts.host.envelope };
    },
    unsafeWorkspaces: () => parts.programs?.unsafeWorkspaces?.() ?? [],
    listTools(query) {
      checkOptions(query, METHOD_OPTIONS.listTools, "listTools");
      return listTools(query, parts);
    },

    async registerTool(registration) {
      checkOptions(registration, METHOD_OPTIONS.registerTool, "registerTool");
      if (gate.closing) throw new KernelError("STORE_UNAVAILABLE", "the kernel is shutting down");
      return toolFacts(await parts.contentUses.during(() => registerTool(registration, reloader, parts)), parts);
    },

    async unregisterTool(name) {
      checkOptions({ name }, METHOD_OPTIONS.unregisterTool, "unregisterTool");
      if (gate.closing) throw new KernelError("STORE_UNAVAILABLE", "the kernel is shutting down");
      await parts.contentUses.during(() => unregisterTool(name, reloader, parts));
    },

    async putContent(put) {
      checkOptions(put, METHOD_OPTIONS.putContent, "putContent");
      if (gate.closing) throw new KernelError("STORE_UNAVAILABLE", "the kernel is shutting down");
      const live = requireUsable(await parts.sessions.find(put.sessionId), parts.ledger.nowMs());
      parts.counters.running++;
      try {
        return await parts.contentUses.during(() => putContent(put, live, parts));
      } finally {
        parts.counters.running--;
      }
    },
    async getContent(sessionId, hash, offset, limit) {
      const live = requireUsable(await parts.sessions.find(sessionId), parts.ledger.nowMs());
      const found = await parts.content.find(sessionId, hash);
      await adoptLabels(live, found, parts);
      return reading(found, offset, limit, parts);
    },
    async grantContent(grant) {
      checkOptions(grant, METHOD_OPTIONS.grantContent, "grantContent");
      return parts.contentUses.during(() => grantContent(grant, parts));
    },
    async statContent(hash) {
      const found = await parts.content.findAny(hash);
      if (found === undefined) return undefined;
      const holders = found.holders.map((holder) => ({
        sessionId: holder.chain,
        recordIndex: holder.recordIndex,
        role: (ContentRole[holder.role] ?? "unknown").toLowerCase(),
        labels: holder.labels,
      }));
      return { size: found.content.size, place: found.content.place, holders };
    },
    async readAnyContent(hash, offset, limit) {
      const found = await parts.content.findAny(hash);
      if (found === undefined) {
        const message = "there is no content with that hash: it never was, or it was erased";
        throw new KernelError("CONTENT_NOT_FOUND", message);
      }
      return reading(found.content, offset, limit, parts);
    },

    async erase(erasure) {
      checkOptions(erasure, METHOD_OPTIONS.erase, "erase");
      if (gate.closing) throw new KernelError("STORE_UNAVAILABLE", "the kernel is shutting down");
      parts.counters.running++;
      try {
        return await eraseContent(erasure, parts);
      } finally {
        parts.counters.running--;
      }
    },
    async collect(collection) {
      checkOptions(collection, METHOD_OPTIONS.collect, "collect");
      const maxItems = Number.POSITIVE_INFINITY;
      return collectGarbage({ ...settings.retention, ...collection, maxItems }, parts);
    },
    async backUp(copying) {
      checkOptions(copying, METHOD_OPTIONS.backUp, "backUp");
      const copy = options.copyHome?.bind(options);
      if (copy === undefined) throw new KernelError("STORE_UNAVAILABLE", "this kernel has no home to copy");
      return parts.erasureLock.withShared(() => copy(copying));
    },
    withErasurePaused: (work) => parts.erasureLock.withShared(work),

    readRecord: (index) => parts.store.readRecord(index),
    async findCall(sessionId, requestId) {
      const index = await parts.store.findRequest(sessionId, requestId);
      return index === undefined ? undefined : parts.store.readRecord(index);
    },
    async listRecords(asked) {
      checkOptions(asked, METHOD_OPTIONS.listRecords, "listRecords");
      const { fromIndex, ...query } = asked;
      return parts.store.readRecords({ ...query, ...(fromIndex !== undefined && { from: fromIndex }) });
    },
    recordCount: () => parts.ledger.durableCount(),
    tailRecords(tail) {
      checkOptions(tail, METHOD_OPTIONS.tailRecords, "tailRecords");
      return tailRecords(tail, parts.ledger, parts.store);
    },

    signCheckpoint: async () => requireCheckpoints(parts).sign(),
    getCheckpoint: async (treeSize) => requireCheckpoints(parts).find(treeSize),
    async rotateLogKey(rotation = { lost: false }) {
      checkOptions(rotation, METHOD_OPTIONS.rotateLogKey, "rotateLogKey");
      return rotation.lost ? requireCheckpoints(parts).replaceLostKey() : requireCheckpoints(parts).rotateKey();
    },
    async proveRecord(question) {
      checkOptions(question, METHOD_OPTIONS.proveRecord, "proveRecord");
      return requireCheckpoints(parts).proveRecord(question.index, question.treeSize);
    },
    async proveConsistency(question) {
      checkOptions(question, METHOD_OPTIONS.proveConsistency, "proveConsistency");
      return requireCheckpoints(parts).proveConsistency(question.from, question.to);
    },

    listWorkspaceLabels: (workspace) => listWorkspaceLabels(workspace, realWorkspace, parts.workspaceLabels),
    async clearWorkspaceLabels(clearing) {
      checkOptions(clearing, METHOD_OPTIONS.clearWorkspaceLabels, "clearWorkspaceLabels");
      return clearWorkspaceLabels(clearing, realWorkspace, parts);
    },

    listIntents: () => listIntents(parts),
    async settleIntent(settlement) {
      checkOptions(settlement, METHOD_OPTIONS.settleIntent, "settleIntent");
      return parts.contentUses.during(() => settleManually(settlement, parts));
    },
    async undo(undoing) {
      checkOptions(undoing, METHOD_OPTIONS.undo, "undo");
      return undo(undoing, parts);
    },

    policyFacts: () => policyFacts(parts),
    reloadPolicy: (by) => parts.contentUses.during(() => reloader.reload(by)),
    changePolicy: (change, by) => parts.contentUses.during(() => reloader.change(change, by)),
    recordHookDecision: (decision) => parts.contentUses.during(() => recordHook(decision, parts)),
    async explainCall(question) {
      checkOptions(question, METHOD_OPTIONS.explainCall, "explainCall");
      return explainCall(question, await sessionFor(question.sessionId, settings.hosts, parts), explaining);
    },

    listApprovals: () => parts.approvals.list(),
    async resolveApproval(resolution) {
      checkOptions(resolution, METHOD_OPTIONS.resolveApproval, "resolveApproval");
      return parts.approvals.resolve(resolution);
    },
    async declineApproval(decline) {
      checkOptions(decline, METHOD_OPTIONS.declineApproval, "declineApproval");
      await parts.approvals.decline(decline);
    },
    async revokeApproval(revocation) {
      checkOptions(revocation, METHOD_OPTIONS.revokeApproval, "revokeApproval");
      return parts.approvals.revoke(revocation);
    },
    watchApprovals: (signal) => parts.approvals.watch(signal),
    openApprovalDoor: () => parts.approvals.openDoor(),
    onLeaseEnded: (told) => parts.leaseEndListeners.listen(told),

    refuse: (refusal) => parts.refusals.count(refusal),
    get closing() {
      return gate.closing;
    },
    async close(closing = {}) {
      checkOptions(closing, METHOD_OPTIONS.close, "close");
      const { graceMs = 10_000 } = closing;
      parts.expiry.stop();
      clearInterval(ticking);
      endRetention();
      closed ??= closeKernel(graceMs, gate, parts);
      await Promise.all([closed, tidying]);
    },
  };
}

function requireCheckpoints({ checkpoints }: KernelParts): Checkpoints {
  if (checkpoints === undefined) throw new KernelError("CHECKPOINT_NOT_FOUND", "this kernel keeps no Merkle log");
  return checkpoints;
}

/** Finds the session; without an id, creates an example session as it would be opened now. */
async function sessionFor(
  sessionId: string | undefined,
  hosts: readonly HostPattern[],
  { sessions, ledger, registry }: KernelParts,
): Promise<LiveSession> {
  if (sessionId !== undefined) return requireOpen(await sessions.find(sessionId), ledger.nowMs());
  const known = registry.list({ allVersions: false }).map(({ tool }) => tool.name);
  return exampleSession(known, ledger.nowMs(), [], hostRights(hosts));
}

function reading(found: FoundContent, offset: number, limit: number, parts: KernelParts): ContentReading {
  const chunks = parts.content.stream(found, offset, limit);
  return { hash: found.digest, size: found.size, labels: found.labels, chunks };
}

/** Adds the content's labels to the session, durably, before any byte is returned. */
async function adoptLabels(live: LiveSession, { labels }: FoundContent, parts: KernelParts): Promise<void> {
  if (live.hasDurableLabels(labels)) return;
  live.addLabels(labels);
  live.enter();
  try {
    const entries: EntryDraft[] = [{ case: "labelsAdopted", value: { labels } }];
    await parts.ledger.append({ chain: live.id, entries, state: [live.usageRow()] });
    live.noteDurableLabels(labels);
  } finally {
    live.leave();
  }
}
