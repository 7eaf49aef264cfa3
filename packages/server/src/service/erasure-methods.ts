import type { ServiceImpl } from "@connectrpc/connect";
import type { AdminService } from "@narthex/contracts";
import type { Kernel } from "@narthex/kernel";
import { toBackUpResponse, toCollectContentResponse, toEraseContentResponse } from "./erasure-reports.ts";
import { toHash, toWholeNumber } from "./wire-values.ts";

type ErasureMethods = Pick<ServiceImpl<typeof AdminService>, "eraseContent" | "collectContent" | "backUp">;

export function createErasureMethods(kernel: Kernel): ErasureMethods {
  return {
    backUp: async ({ directory, withKeys }) => toBackUpResponse(await kernel.backUp({ directory, withKeys })),
    async eraseContent({ hashes, sessionIds, reason, by, dryRun }) {
      const named = hashes.map((hash, at) => toHash(hash, `hashes[${at}]`));
      return toEraseContentResponse(await kernel.erase({ hashes: named, sessionIds, reason, by, dryRun }));
    },
    async collectContent({ dryRun, maxAgeMs, maxBytes }) {
      return toCollectContentResponse(
        await kernel.collect({
          dryRun,
          ...(maxAgeMs === undefined ? {} : { maxAgeMs: toWholeNumber(maxAgeMs, "max_age_ms") }),
          ...(maxBytes === undefined ? {} : { maxBytes: toWholeNumber(maxBytes, "max_bytes") }),
        }),
      );
    },
  };
}
