import { ContentRole, equalBytes, isKernelError, KernelError } from "@narthex/contracts";
import type { PolicyFacts, PolicyReload } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { publicContent } from "../ledger/public-content.ts";
import { type ContentDraft, SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import type { Policy, PolicyChange, PolicySource, StateChange } from "../ports.ts";
import { describeFault } from "../result/describe-fault.ts";
import type { PolicySet } from "./policy.ts";

/** Replaces the policy in force, one replacement at a time. */
export interface PolicyReloader {
  reload(by: string): Promise<PolicyReload>;
  /** Adds or removes one file of the set in force. Reads no other files from the directory: they may be drafts. */
  change(change: PolicyChange, by: string): Promise<PolicyReload>;
  /** Runs `work` while no other replacement can happen. */
  runExclusive<T>(work: () => Promise<T>): Promise<T>;
}

const MAX_BY = 256;

export function createPolicyReloader(kernel: KernelParts): PolicyReloader {
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  }
  function reloadInTurn(read: (source: PolicySource) => Promise<Policy>, by: string): Promise<PolicyReload> {
    if (by.length > MAX_BY) throw new KernelError("INVALID_INPUT", `who reloads has at most ${MAX_BY} characters`);
    return inTurn(() => reload(read, by, kernel));
  }
  return {
    runExclusive: inTurn,
    reload: async (by) => reloadInTurn((source) => source.load(), by),
    change: async (change, by) =>
      reloadInTurn((source) => {
        const { current } = kernel.policy;
        if ("problem" in current) throw new KernelError("POLICY_INVALID", `no policy is in force: ${current.problem}`);
        return source.loadChanged(current.bytes, change);
      }, by),
  };
}

/**
 * INVARIANT: the set is stored as content, and its `policyLoaded` entry is durable, before it makes its first decision.
 * A set that cannot be used changes nothing except the ledger, which records the refusal.
 */
async function reload(
  read: (source: PolicySource) => Promise<Policy>,
  by: string,
  kernel: KernelParts,
): Promise<PolicyReload> {
  const { policy, policySource } = kernel;
  if (policySource === undefined) {
    throw new KernelError(
      "POLICY_INVALID",
      "this kernel was given its policy in code; there are no files to read again",
    );
  }
  const next = await load(by, kernel, () => read(policySource));
  const { current } = next;
  if ("problem" in current) throw await refused(current.problem, by, kernel);
  const before = policy.current;
  const isSame =
    !("problem" in before) &&
    equalBytes(before.hash, current.hash) &&
    equalBytes(before.schemaHash, current.schemaHash);
  if (!isSame) {
    await kernel.ledger.append({ chain: SYSTEM_CHAIN, ...(await createPolicyAnnouncement(current, by, kernel)) });
    policy.replace(next);
  }
  return { policy: policyFacts(kernel), changed: !isSame };
}

async function load(by: string, kernel: KernelParts, read: () => Promise<Policy>): Promise<Policy> {
  try {
    return await read();
  } catch (fault) {
    await refused(isKernelError(fault) ? fault.message : describeFault(fault), by, kernel);
    throw fault;
  }
}

/** Maximum length of a recorded problem. The first of many errors are enough to explain it. */
const MAX_PROBLEM = 2000;

async function refused(problem: string, by: string, kernel: KernelParts): Promise<KernelError> {
  const told = problem.slice(0, MAX_PROBLEM).toWellFormed();
  await kernel.ledger.append({
    chain: SYSTEM_CHAIN,
    entries: [{ case: "policyRefused", value: { problem: told, by } }],
  });
  return new KernelError("POLICY_INVALID", problem);
}

/** Creates the ledger entry for a set, with the set and its schema as content. */
export async function createPolicyAnnouncement(
  set: PolicySet,
  by: string,
  kernel: Pick<KernelParts, "publicStore" | "random" | "policyMode">,
): Promise<{
  readonly entries: [{ readonly case: "policyLoaded"; readonly value: object }];
  readonly content: ContentDraft[];
  readonly state: StateChange[];
}> {
  const { hash: policyHash, schemaHash, engine, ruleCount } = set;
  const mode = kernel.policyMode === "observe" ? "observe" : "";
  return {
    entries: [{ case: "policyLoaded", value: { policyHash, schemaHash, engine, ruleCount, mode, by } }],
    content: [
      await publicContent(ContentRole.POLICY_SET, set.bytes, kernel),
      await publicContent(ContentRole.POLICY_SCHEMA, set.schemaBytes, kernel),
    ],
    state: [{ table: "meta", key: "policy", value: announcedAs(set, mode) }],
  };
}

/** Identifies an announced set and mode; the same set and mode are not announced twice. */
export function announcedAs({ hash, schemaHash }: PolicySet, mode: string): Uint8Array {
  return Buffer.concat([hash, schemaHash, Buffer.from(mode)]);
}

const EMPTY = new Uint8Array();

export function policyFacts({ policy, policyMode, policySource }: KernelParts): PolicyFacts {
  const { current } = policy;
  const common = { mode: policyMode, directory: policySource?.directory ?? "" };
  if ("problem" in current) {
    const { problem } = current;
    return {
      ...common,
      problem,
      policyHash: EMPTY,
      schemaHash: EMPTY,
      engine: "",
      ruleCount: 0,
      fallback: "",
      warnings: [],
    };
  }
  const { hash: policyHash, schemaHash, engine, ruleCount, fallback, warnings } = current;
  return { ...common, problem: "", policyHash, schemaHash, engine, ruleCount, fallback, warnings };
}
