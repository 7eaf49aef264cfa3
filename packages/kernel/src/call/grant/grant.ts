import { toHex } from "@narthex/contracts";
import { amountList } from "../../budget/amount-list.ts";
import { isShortfall } from "../../budget/budget-account.ts";
import type { BudgetAmounts } from "../../budget/budget.ts";
import { isWeakerLevel } from "../../host-examination.ts";
import { intentKey, intentRow } from "../../journal/intent.ts";
import { joinLabels } from "../../label/join-labels.ts";
import type { WorkspaceLabelUpdate } from "../../label/workspace-labels.ts";
import { describeFault } from "../../result/describe-fault.ts";
import { lineageProblem } from "../../session/lineage.ts";
import { countRowBytes, remainingTreeBytes } from "../../session/tree-storage.ts";
import { logicalTimeMs } from "../../session/logical-time.ts";
import type { Effect, ToolContext } from "../../tool/tool.ts";
import type { DecidedCall } from "../call.ts";
import { callReservation, timeoutFor } from "../call-reservation.ts";
import { type PermittedCall, verifyPermitted } from "../decide/decide.ts";
import { checkSession } from "../check-session.ts";
import { isStreamed, labelWrittenWorkspace, persistLabels, adoptInitialLabels } from "../adopt-labels.ts";
import { Stamp } from "../stamp.ts";
import { Denied, type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { GrantedContext } from "./granted-context.ts";

declare const grantBrand: unique symbol;

/** What one permitted call may access, and for how long. */
export interface SealedGrant {
  readonly [grantBrand]: true;
  readonly timeoutMs: number;
  readonly context: ToolContext;
  /** Closes the context; if a reason is given, aborts its signal. */
  end(reason?: string): void;
}

export interface GrantedCall extends DecidedCall {
  readonly grant: SealedGrant;
}

// SECURITY: as with permitted calls, only a grant sealed by this module is valid, and only for the call it was sealed
// for. Tested by "rejects a forged grant at run time".
class Seal extends Stamp {
  readonly #call: GrantedCall;

  constructor(grant: object, call: GrantedCall) {
    super(grant);
    this.#call = call;
  }

  static callOf(grant: object): GrantedCall | undefined {
    return #call in grant ? grant.#call : undefined;
  }
}

/** Turns a permitted call into a sealed grant; makes the intent durable before the tool can do anything. */
export function grant(call: PermittedCall, kernel: KernelParts): GrantedCall | Ending | Promise<GrantedCall | Ending> {
  verifyPermitted(call);
  if (!isContained(call)) return grantNow(call, kernel);
  const { level } = kernel.host;
  if (level !== undefined)
    return refuseWeakerLevel(call, level) ?? refuseDisabledTool(call, kernel) ?? grantNow(call, kernel);
  return kernel.host
    .examine()
    .then((found) => refuseWeakerLevel(call, found) ?? refuseDisabledTool(call, kernel) ?? grantNow(call, kernel));
}

function isContained({ registered }: PermittedCall): boolean {
  const { isolation } = registered.tool;
  return isolation === "worker" || isolation === "process" || isolation === "wasm" || isolation === "mcp";
}

function grantNow(call: PermittedCall, kernel: KernelParts): GrantedCall | Ending | Promise<GrantedCall | Ending> {
  const { trail, live } = call;
  const session = checkSession(live, kernel);
  if (session instanceof Denied) return session;
  // A revocation does not cancel a call that waits for another call or for a user, so check once more.
  const ended = lineageProblem(live, kernel.ledger.nowMs());
  if (ended !== undefined) {
    return new Denied(
      ended,
      "kernel:grant",
      "the session's lease, or one that it came from, ended before the call began",
    );
  }
  if (remainingTreeBytes(live) === 0) {
    const message = "the session and those split off it have stored all that they may: see `storage.session_bytes`";
    return new Denied("BUDGET_EXCEEDED", "kernel:grant", message);
  }
  countRowBytes(live, call.inputBytes.length);
  kernel.expiry.scheduleAt(Math.min(live.lease.expiresAtMs, live.session.expiresAtMs));
  const startedAtMs = kernel.clock.monotonicMs();
  const remainingMs = call.incoming.deadlineMs - startedAtMs;
  if (trail.running?.cancelled !== undefined) {
    return new Failed("CANCELLED", "the call was cancelled before it began; nothing was done");
  }
  if (remainingMs <= 0) return Failed.pastDeadline();
  const boundMs = timeoutFor(call.timeoutMs, remainingMs);
  const bounds = { timeoutMs: boundMs, maxCpuMs: call.maxCpuMs };
  const reservation = live.account.reserve(...callReservation(call, bounds));
  if (isShortfall(reservation)) {
    trail.add({ case: "budgetExceeded", value: { leaseId: live.lease.id, ...reservation } });
    return new Denied(
      "BUDGET_EXCEEDED",
      "kernel:grant",
      `the budget of ${reservation.dimension} has ${reservation.remaining} left`,
    );
  }
  trail.reservation = reservation;
  trail.callNumber = ++live.calls;
  const runningBeside = live.startedCalls++;
  trail.startedAtMs = startedAtMs;
  // From here on the request id belongs to this call.
  kernel.usedRequestIds.add(live.id, trail.fingerprint ?? kernel.usedRequestIds.fingerprint(call.requestId));
  const timeoutMs = Math.min(boundMs, reservation.amounts.wall_ms ?? boundMs);
  const intent = call.tier !== "read_only";
  adoptInitialLabels(call, kernel);
  const labelling = labelWrittenWorkspace(trail, live.session.workspace, joinLabels(live.labels, trail.labels), kernel);
  if (labelling !== undefined) trail.add(labelling.entry);
  trail.add({
    case: "toolStarted",
    value: {
      callNumber: trail.callNumber,
      intent,
      reserved: amountList(reservation.amounts),
      timeoutMs,
      runningBeside,
    },
  });
  if (intent) {
    return writeIntent(call, reservation.amounts, labelling, kernel).then(() => seal(call, timeoutMs, kernel));
  }
  const start = (): GrantedCall | Promise<GrantedCall> =>
    trail.approvalId === "" ? seal(call, timeoutMs, kernel) : writeStart(call, timeoutMs, kernel);
  return isStreamed(call) && trail.labels.length > 0 ? persistLabels(call, kernel).then(start) : start();
}

/** SECURITY: a session that began at one containment level does not continue at a weaker one. */
function refuseWeakerLevel({ live }: PermittedCall, level: string): Failed | undefined {
  const began = live.session.level;
  if (!isWeakerLevel(level, began)) return undefined;
  const message = `this session began at containment level ${began}, and this host now has ${level}: open a new session`;
  return new Failed("SANDBOX_UNAVAILABLE", message);
}

/** Refuses a tool that cannot be contained on this host, before anything has happened. */
function refuseDisabledTool({ registered }: PermittedCall, { host }: KernelParts): Failed | undefined {
  const { state, reason } = host.stateOf(registered.tool);
  return state === "disabled" ? new Failed("SANDBOX_UNAVAILABLE", reason) : undefined;
}

/** Throws unless `grant` made this exact grant for this exact call. */
export function verifyGrant(call: GrantedCall): void {
  if (Seal.callOf(call.grant) !== call) throw new TypeError("not a granted call: only the grant stage makes one");
}

function seal(call: PermittedCall, timeoutMs: number, kernel: KernelParts): GrantedCall {
  const context = new GrantedContext(call, kernel);
  const end = (reason?: string): void => GrantedContext.end(context, reason);
  const fresh = { timeoutMs, context, end } as Pick<SealedGrant, "timeoutMs" | "context" | "end"> as SealedGrant;
  const granted: GrantedCall = { ...call, grant: fresh };
  new Seal(fresh, granted);
  Object.freeze(fresh);
  return granted;
}

/** Uses up the approval of a call before it runs, even if the call cannot change anything. */
async function writeStart(call: PermittedCall, timeoutMs: number, kernel: KernelParts): Promise<GrantedCall> {
  const { trail, live, requestId } = call;
  const state = [kernel.approvals.removeConsumed(trail.approvalId), live.usageRow()];
  const time = logicalTimeMs(trail.callNumber);
  const draft = { chain: live.id, requestId, ...trail.take(), state, logicalTimeMs: time };
  const { index } = await kernel.ledger.append(draft);
  trail.noteWritten(index);
  return seal(call, timeoutMs, kernel);
}

/**
 * Returns the name of the kernel's current start, if the end of the call's programs will be all that can be known after
 * a crash; otherwise undefined.
 */
async function provableRun(
  { registered, effects }: PermittedCall,
  { programs, logger }: KernelParts,
): Promise<string | undefined> {
  const { tool, isPortBound } = registered;
  // SECURITY: the tool itself makes this claim, so it is trusted only of tools that came with the kernel or were made
  // by it.
  if (tool.changesByPrograms !== true || !isPortBound || tool.isolation !== "process") return undefined;
  if (effects.some((effect) => REACHES_OUT.has(effect))) return undefined;
  try {
    return await programs?.currentRun?.();
  } catch (fault) {
    logger("warn", "the outcome of a call that is killed could not be proven", { cause: describeFault(fault) });
    return undefined;
  }
}

const REACHES_OUT: ReadonlySet<Effect> = new Set<Effect>(["net_read", "net_write", "inference", "artifact"]);

async function writeIntent(
  call: PermittedCall,
  reserved: BudgetAmounts,
  labelling: WorkspaceLabelUpdate | undefined,
  kernel: KernelParts,
): Promise<void> {
  const { trail, live } = call;
  const { running, firstIndex } = trail;
  const run = await provableRun(call, kernel);
  if (run !== undefined) trail.programsIntentKey = intentKey(live.id, call.requestId);
  const intent = {
    sessionId: live.id,
    requestId: call.requestId,
    dedupeKey: call.dedupeKey,
    tool: call.registered.id,
    inputDigest: toHex(call.inputDigest),
    requestDigest: toHex(call.requestDigest),
    startedAtMs: kernel.ledger.nowMs(),
    callNumber: trail.callNumber,
    reserved,
    ...(trail.isRedacted && { isRedacted: true }),
    ...(run !== undefined && { run }),
  };
  if (running !== undefined) running.survivesDisconnect = true;
  live.addLabels(trail.labels);
  const { labels } = live;
  // INVARIANT: the approval is removed in the same write as the intent, so one approval allows one call whenever the
  // kernel is killed.
  const used = trail.approvalId === "" ? [] : [kernel.approvals.removeConsumed(trail.approvalId)];
  const { index } = await kernel.ledger.append({
    chain: live.id,
    requestId: call.requestId,
    ...trail.take(),
    state: (recordIndex) => [
      intentRow({ ...intent, firstRecordIndex: firstIndex ?? recordIndex, recordIndex }),
      live.usageRow(),
      ...used,
      ...(labelling === undefined ? [] : [labelling.row()]),
    ],
    logicalTimeMs: logicalTimeMs(trail.callNumber),
  });
  live.noteDurableLabels(labels);
  labelling?.noteDurable();
  trail.noteWritten(index);
  trail.intentIndex = index;
}
