import { createId, createToken, hashToken, KernelError } from "@narthex/contracts";
import { createBudgetAccount } from "../budget/budget-account.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { joinLabels } from "../label/join-labels.ts";
import { createLease, type LeaseDefaults } from "../lease/create-lease.ts";
import { LiveSession } from "./live-session.ts";
import { openingDraft } from "./opening-draft.ts";
import type { OpenSessionOptions, Session } from "./session.ts";
import { validateOpenOptions } from "./validate-open-options.ts";

const SEED_BYTES = 32;

/**
 * Opens a session. The host must have checked the workspace before. The token is returned here and is not available
 * later.
 */
export async function openSession(
  options: OpenSessionOptions,
  defaults: LeaseDefaults,
  kernel: KernelParts,
): Promise<{ readonly live: LiveSession; readonly token: string }> {
  const violations = validateOpenOptions(options, kernel.workspaceLabels.get(options.workspace));
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
  const workspace = internText(options.workspace);
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
    labels: joinLabels(NO_LABELS, options.labels ?? []),
    level,
  };
  const live = new LiveSession(session, lease, createBudgetAccount({ limits: lease.budgets, spent: {} }));
  const isAdopted = options.adopt === true && (await adopt(workspace, kernel));
  await kernel.ledger.loadChain(id);
  await kernel.ledger.append(openingDraft(live, { isAdopted }));
  kernel.usedRequestIds.begin(id);
  kernel.sessions.add(live);
  return { live, token };
}

/** Adopts the workspace. Called last, when nothing else about the session can fail. */
async function adopt(workspace: string, { adoptWorkspace }: KernelParts): Promise<boolean> {
  if (adoptWorkspace === undefined) throw new KernelError("WORKSPACE_REFUSED", "this kernel adopts no workspaces");
  return adoptWorkspace(workspace);
}

const NO_LABELS: readonly string[] = Object.freeze([]);
let lastText = "";

/** Shares the string of the workspace, because consecutive sessions usually have the same one. */
function internText(text: string): string {
  if (text !== lastText) lastText = text;
  return lastText;
}

/**
 * Copies into pooled memory, which takes half the space of a separate array. The pool is shared, so the result must not
 * leave the kernel.
 */
export function compactBytes(bytes: Uint8Array): Uint8Array {
  return Buffer.from(bytes);
}
