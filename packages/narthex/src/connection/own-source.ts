import { timingSafeEqual } from "node:crypto";
import { blake3, KernelError, utf8 } from "@narthex/contracts";
import type { McpCaller, McpSource } from "@narthex/server";
import type { LastingLink } from "./lasting-link.ts";
import { requireOpenState } from "./session-keeper.ts";

/** One session for whoever has its token, whichever kernel serves it. */
export function createOwnSource(link: LastingLink, caller: McpCaller): McpSource {
  const { sessionId, token } = link.now().session;
  const expected = blake3(utf8(token));
  return {
    /** SECURITY: no other token than this session's, compared in constant time. */
    async authenticate(given) {
      if (!timingSafeEqual(blake3(utf8(given)), expected)) {
        throw new KernelError("SESSION_UNKNOWN", "this address serves one session; send its token");
      }
      const { link: kernel } = await link.current();
      requireOpenState(await kernel.sessionState(sessionId));
      return sessionId;
    },
    createCaller: () => Promise.resolve(caller),
    watchTools: (told, signal) => caller.watchTools(told, signal),
    refuse: (reason, bytes) => caller.refuse(reason, bytes ?? new Uint8Array(0)),
  };
}
