import { timingSafeEqual } from "node:crypto";
import { blake3, KernelError, utf8 } from "@narthex/contracts";
import type { McpSource } from "@narthex/server";
import type { LastingCaller } from "./lasting-caller.ts";
import type { LastingLink } from "./lasting-link.ts";
import { requireOpenState } from "./session-keeper.ts";

/** One session for whoever has its token, whichever kernel serves it. */
export function createOwnSource(link: LastingLink, caller: LastingCaller): McpSource {
  const { sessionId, token } = link.now().session;
  const expected = blake3(utf8(token));
  return {
    /**
     * SECURITY: no other token than this session's, compared in constant time. Whether the session is open the kernel
     * says, to each call.
     */
    async authenticate(given) {
      if (!timingSafeEqual(blake3(utf8(given)), expected)) {
        throw new KernelError("SESSION_UNKNOWN", "this address serves one session; send its token");
      }
      return sessionId;
    },
    requireOpen: async () => requireOpenState(await caller.sessionState()),
    createCaller: () => Promise.resolve(caller),
    watchTools: caller.watchTools,
    refuse: (reason, bytes) => caller.refuse(reason, bytes ?? new Uint8Array(0)),
  };
}
