import { create, HASH_SIZE } from "@narthex/contracts";
import {
  type VerifiedCall,
  VerifiedCallSchema,
  type VerifiedChain,
  VerifiedChainSchema,
} from "@narthex/contracts/verified";
import { Call, CALL_STEPS, type CallStep, type OpenedCommitment } from "../call.ts";
import { Chain } from "../chain.ts";
import { type Slice, wholeSlice } from "../wire/slice.ts";
import { exactNumber } from "./exact-number.ts";
import { VerifiedFault } from "./verified-file.ts";

/** The state that the next record of a chain is checked against. */
export function chainToState(chain: Chain): VerifiedChain {
  const approvals = [...chain.approvals()];
  return create(VerifiedChainSchema, {
    name: chain.name,
    nextSequence: BigInt(chain.nextSequence),
    headHash: bytesOf(chain.headHash),
    headIndex: BigInt(chain.headIndex),
    logicalTimeMs: BigInt(chain.logicalTimeMs),
    closed: chain.closed,
    openCalls: [...chain.openCalls()].map(([requestId, call]) => callToState(requestId, call)),
    openApprovals: approvals.filter(([, state]) => state === "open").map(([id]) => id),
    givenApprovals: approvals.filter(([, state]) => state === "given").map(([id]) => id),
    standingApprovals: [...chain.standing()],
  });
}

export function chainFromState(state: VerifiedChain): Chain {
  if (state.name === "" || state.headHash.length !== HASH_SIZE || state.nextSequence === 0n) {
    throw new VerifiedFault("a chain in it is none");
  }
  const chain = new Chain(state.name);
  chain.nextSequence = exactNumber(state.nextSequence);
  chain.headHash = wholeSlice(state.headHash);
  chain.headIndex = exactNumber(state.headIndex);
  chain.logicalTimeMs = exactNumber(state.logicalTimeMs);
  chain.closed = state.closed;
  for (const call of state.openCalls) chain.keepCall(call.requestId, callFromState(call));
  for (const id of state.openApprovals) chain.requestApproval(id);
  for (const id of state.givenApprovals) chain.grantApproval(id);
  for (const id of state.standingApprovals) chain.addStanding(id);
  return chain;
}

function callToState(requestId: string, call: Call): VerifiedCall {
  return create(VerifiedCallSchema, {
    requestId,
    step: call.step,
    decisions: call.decisions,
    started: call.started,
    intent: call.intent,
    needsApproval: call.needsApproval,
    approved: call.approved,
    approvalId: call.approvalId,
    requestCommitment: bytesOf(call.requestCommitment),
    proofCommitment: bytesOf(call.proofCommitment),
    opened: call.opened.map(({ role, commitment, present, size }) => ({
      role,
      commitment: bytesOf(commitment),
      present,
      size: BigInt(size),
    })),
  });
}

function callFromState(state: VerifiedCall): Call {
  const call = new Call();
  if (!isCallStep(state.step)) throw new VerifiedFault("a call in it is none");
  call.step = state.step;
  call.decisions = state.decisions;
  call.started = state.started;
  call.intent = state.intent;
  call.needsApproval = state.needsApproval;
  call.approved = state.approved;
  call.approvalId = state.approvalId;
  call.requestCommitment = wholeSlice(state.requestCommitment);
  call.proofCommitment = wholeSlice(state.proofCommitment);
  call.opened = state.opened.map(
    ({ role, commitment, present, size }): OpenedCommitment => ({
      role,
      commitment: wholeSlice(commitment),
      present,
      size: exactNumber(size),
    }),
  );
  return call;
}

function isCallStep(text: string): text is CallStep {
  return CALL_STEPS.some((step) => step === text);
}

/** Copied, because the chain keeps changing. */
function bytesOf(slice: Slice | undefined): Uint8Array<ArrayBuffer> {
  return slice === undefined ? new Uint8Array(0) : new Uint8Array(slice.view());
}
