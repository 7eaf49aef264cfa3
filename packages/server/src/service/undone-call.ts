import { create, type UndoneCall as UndoneCallMessage, UndoneCallSchema } from "@narthex/contracts";
import type { UndoneCall } from "@narthex/kernel";

export function toUndoneCall({ requestId, recordIndex, undoneIndex, changes }: UndoneCall): UndoneCallMessage {
  return create(UndoneCallSchema, {
    requestId,
    recordIndex: BigInt(recordIndex),
    undoneIndex: BigInt(undoneIndex),
    changes: changes.map(({ path, action }) => ({ path, action })),
  });
}
