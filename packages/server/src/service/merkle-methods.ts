import {
  type CheckpointInfo,
  CheckpointInfoSchema,
  create,
  type GetCheckpointRequest,
  type GetCheckpointResponse,
  GetCheckpointResponseSchema,
  type ProveConsistencyRequest,
  type ProveConsistencyResponse,
  ProveConsistencyResponseSchema,
  type ProveRecordRequest,
  type ProveRecordResponse,
  ProveRecordResponseSchema,
  type RotateLogKeyRequest,
  type RotateLogKeyResponse,
  RotateLogKeyResponseSchema,
  type SignCheckpointResponse,
  SignCheckpointResponseSchema,
} from "@narthex/contracts";
import { consistencyProofText, inclusionProofText, type Kernel, type SignedCheckpoint } from "@narthex/kernel";
import { toWholeNumber } from "./wire-values.ts";

/** Requests about the Merkle tree, the same for remote clients and for code with direct access to the kernel. */
export interface MerkleMethods {
  signCheckpoint(): Promise<SignCheckpointResponse>;
  getCheckpoint(request: GetCheckpointRequest): Promise<GetCheckpointResponse>;
  proveRecord(request: ProveRecordRequest): Promise<ProveRecordResponse>;
  proveConsistency(request: ProveConsistencyRequest): Promise<ProveConsistencyResponse>;
  rotateLogKey(request: RotateLogKeyRequest): Promise<RotateLogKeyResponse>;
}

export function createMerkleMethods(kernel: Pick<Kernel, keyof MerkleMethods>): MerkleMethods {
  return {
    async signCheckpoint() {
      const { isNew: signed, verifierKey, ...checkpoint } = await kernel.signCheckpoint();
      return create(SignCheckpointResponseSchema, { checkpoint: toCheckpointInfo(checkpoint), signed, verifierKey });
    },
    async getCheckpoint({ treeSize }) {
      const checkpoint = await kernel.getCheckpoint(sizeOrNewest(treeSize, "tree_size"));
      return create(GetCheckpointResponseSchema, { checkpoint: toCheckpointInfo(checkpoint) });
    },
    async proveRecord({ index, treeSize, withoutRecord }) {
      const proof = await kernel.proveRecord({
        index: toWholeNumber(index, "index"),
        treeSize: sizeOrNewest(treeSize, "tree_size"),
      });
      const text = inclusionProofText(withoutRecord ? { ...proof, record: undefined } : proof);
      return create(ProveRecordResponseSchema, { proof: text, treeSize: BigInt(proof.treeSize) });
    },
    async proveConsistency({ fromSize, toSize }) {
      const from = toWholeNumber(fromSize, "from_size");
      const proof = await kernel.proveConsistency({ from, to: sizeOrNewest(toSize, "to_size") });
      return create(ProveConsistencyResponseSchema, { proof: consistencyProofText(proof), toSize: BigInt(proof.to) });
    },
    async rotateLogKey({ lost }) {
      const { announced, previousVerifierKey, checkpoint } = await kernel.rotateLogKey({ lost });
      return create(RotateLogKeyResponseSchema, {
        verifierKey: announced.key.text,
        previousVerifierKey,
        announcement: announced.note,
        recordIndex: BigInt(announced.recordIndex),
        checkpoint: toCheckpointInfo(checkpoint),
      });
    },
  };
}

function sizeOrNewest(size: bigint, field: string): number | undefined {
  return size === 0n ? undefined : toWholeNumber(size, field);
}

function toCheckpointInfo({ size, root, keyId, recordIndex, note }: SignedCheckpoint): CheckpointInfo {
  return create(CheckpointInfoSchema, {
    treeSize: BigInt(size),
    rootHash: root,
    keyId,
    recordIndex: BigInt(recordIndex),
    note,
  });
}
