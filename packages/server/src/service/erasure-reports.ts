import {
  type BackUpResponse,
  BackUpResponseSchema,
  type CollectContentResponse,
  CollectContentResponseSchema,
  create,
  type EraseContentResponse,
  EraseContentResponseSchema,
  fromHex,
} from "@narthex/contracts";
import type { CollectionReport, ErasureReport, HomeCopy } from "@narthex/kernel";

export function toEraseContentResponse(report: ErasureReport): EraseContentResponse {
  return create(EraseContentResponseSchema, {
    items: BigInt(report.items),
    records: BigInt(report.records),
    bytes: BigInt(report.bytes),
    files: BigInt(report.files),
    recordIndexes: report.recordIndexes.map(BigInt),
    heldByOthers: BigInt(report.heldByOthers),
  });
}

export function toBackUpResponse({ directory, records, headHash, files, bytes }: HomeCopy): BackUpResponse {
  return create(BackUpResponseSchema, {
    directory,
    records: BigInt(records),
    headHash: fromHex(headHash) ?? new Uint8Array(),
    files: BigInt(files),
    bytes: BigInt(bytes),
  });
}

export function toCollectContentResponse(report: CollectionReport): CollectContentResponse {
  return create(CollectContentResponseSchema, {
    sessions: BigInt(report.sessions),
    items: BigInt(report.items),
    bytes: BigInt(report.bytes),
    files: BigInt(report.files),
    keptBytes: BigInt(report.keptBytes),
  });
}
