import { canonicalJson, createId, createToken, hashToken, KernelError, utf8 } from "@narthex/contracts";
import { createBudgetAccount } from "../budget/budget-account.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { createLease, type LeaseDefaults } from "../lease/create-lease.ts";
import { leaseToJson } from "../lease/lease-to-json.ts";
import type { Lease } from "../lease/lease.ts";
import { LiveSession } from "./live-session.ts";
import type { OpenSessionOptions, Session } from "./session.ts";
import { sessionToJson } from "./session-to-json.ts";
import { validateOpenOptions } from "./validate-open-options.ts";

const SEED_BYTES = 32;

/** Opens a session on a workspace that the machine has already looked at. The token is told once, and only here. */
export async function openSession(
  options: OpenSessionOptions,
  defaults: LeaseDefaults,
  kernel: KernelParts,
): Promise<{ readonly live: LiveSession; readonly token: string }> {
  const violations = validateOpenOptions(options);
  if (violations.length > 0) {
    const text = violations.map((violation) => `${violation.field} ${violation.message}`).join("; ");
    throw new KernelError("INVALID_INPUT", `the session cannot be opened: ${text}`, { violations });
  }
  const level = await kernel.host.examine();
  const random = (length: number): Uint8Array => kernel.random.bytes(length);
  const id = createId("ses", random);
  const nowMs = kernel.ledger.nowMs();
  const ttlMs = options.ttlMs ?? defaults.ttlMs;
  const lease = createLease({
    id: createId("lea", random),
    holder: id,
    request: options.lease,
    defaults: { ...defaults, ttlMs },
    nowMs,
    knownTools: kernel.registry.list({ allVersions: false }).map((registered) => registered.tool.name),
    workspace: options.workspace,
  });
  const token = createToken(id, random);
  const workspace = keptOnce(options.workspace);
  const session: Session = {
    id,
    tenant: options.tenant ?? "default",
    user: options.user ?? "user",
    agent: options.agent ?? "agent",
    workspace,
    workingDirectory: options.workingDirectory ?? workspace,
    leaseId: lease.id,
    parentSessionId: undefined,
    seed: compactBytes(options.seed ?? random(SEED_BYTES)),
    tokenHash: compactBytes(hashToken(token)),
    openedAtMs: nowMs,
    expiresAtMs: nowMs + ttlMs,
    state: "open",
    calls: 0,
    labels: NO_LABELS,
    level,
  };
  const live = new LiveSession(session, lease, createBudgetAccount({ limits: lease.budgets, spent: {} }));
  if (options.adopt === true) await adopt(workspace, kernel);
  await writeOpening(live, kernel);
  kernel.requests.begin(id);
  kernel.sessions.add(live);
  return { live, token };
}

/** Last, when nothing is left to be wrong with the session. */
async function adopt(workspace: string, { adoptWorkspace }: KernelParts): Promise<void> {
  if (adoptWorkspace === undefined) throw new KernelError("WORKSPACE_REFUSED", "this kernel adopts no workspaces");
  await adoptWorkspace(workspace);
}

const NO_LABELS: readonly string[] = Object.freeze([]);
let lastText = "";

/** Sessions that follow each other mostly have the same workspace: its text is held once. */
function keptOnce(text: string): string {
  if (text !== lastText) lastText = text;
  return lastText;
}

/** A copy in memory that is shared with others, which is half the size of an array of its own. It stays inside. */
function compactBytes(bytes: Uint8Array): Uint8Array {
  return Buffer.from(bytes);
}

async function writeOpening(live: LiveSession, kernel: KernelParts): Promise<void> {
  const { session, lease } = live;
  await kernel.ledger.loadChain(session.id);
  await kernel.ledger.append({
    chain: session.id,
    entries: [
      {
        case: "sessionOpened",
        value: {
          sessionId: session.id,
          tenant: session.tenant,
          user: session.user,
          agent: session.agent,
          workspace: session.workspace,
          workingDirectory: session.workingDirectory,
          seed: session.seed,
          leaseId: lease.id,
          expiresAtMs: session.expiresAtMs,
          level: session.level,
        },
      },
      { case: "leaseGranted", value: { leaseId: lease.id, lease: canonicalJson(leaseToJson(lease)) } },
    ],
    state: [sessionRow(session), leaseRow(lease), live.usageRow()],
  });
}

export function sessionRow(session: Session): { table: "sessions"; key: string; value: Uint8Array } {
  return { table: "sessions", key: session.id, value: utf8(canonicalJson(sessionToJson(session))) };
}

function leaseRow(lease: Lease): { table: "leases"; key: string; value: Uint8Array } {
  return { table: "leases", key: lease.id, value: utf8(canonicalJson(leaseToJson(lease))) };
}
