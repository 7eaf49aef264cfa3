import { timingSafeEqual } from "node:crypto";
import { blake3, KernelError, utf8 } from "@narthex/contracts";
import type { McpSource } from "@narthex/server";
import type { ReconnectingCaller } from "./reconnecting-caller.ts";
import type { ReconnectingLink } from "./reconnecting-link.ts";
import { requireOpenState } from "./session-keeper.ts";

/** Serves one session to clients that have its token, whichever kernel serves it. */
export function createSingleSessionSource(link: ReconnectingLink, caller: ReconnectingCaller): McpSource {
  const { sessionId, token } = link.latest().session;
  const expected = blake3(utf8(token));
  return {
    /**
     * SECURITY: accepts only this session's token, compared in constant time. The kernel checks on each call whether
     * the session is open.
     */
    async authenticate(presentedToken) {
      if (!timingSafeEqual(blake3(utf8(presentedToken)), expected)) {
        throw new KernelError("SESSION_UNKNOWN", "this address serves one session; send its token");
      }
      return sessionId;
    },
    requireOpen: async () => requireOpenState(await caller.findSessionState()),
    createCaller: () => Promise.resolve(caller),
    watchTools: caller.watchTools,
    refuse: (reason, bytes) => caller.refuse(reason, bytes ?? new Uint8Array(0)),
  };
}
