import { isJsonObject, parseJson } from "@narthex/contracts";
import type { Store } from "../ports.ts";

/** Whether a session was opened by delegation from another one, directly or through other sessions. */
export type DescendantCheck = (sessionId: string, ancestorId: string) => Promise<boolean>;

/** Maximum delegation depth. */
const MAX_DEPTH = 16;
const MAX_KNOWN = 10_000;
const NO_PARENT = "";

/** Creates a check that caches parents: the parent of a session never changes. */
export function createDescendantCheck(store: Store): DescendantCheck {
  const parents = new Map<string, string>();

  async function parentOf(sessionId: string): Promise<string> {
    const known = parents.get(sessionId);
    if (known !== undefined) return known;
    const row = await store.getState("sessions", sessionId);
    if (row === undefined) return NO_PARENT;
    const session = parseJson(row);
    const parent = isJsonObject(session) ? session["parent_session_id"] : undefined;
    if (parents.size >= MAX_KNOWN) parents.clear();
    const found = typeof parent === "string" ? parent : NO_PARENT;
    parents.set(sessionId, found);
    return found;
  }

  return async (sessionId, ancestorId) => {
    let at = await parentOf(sessionId);
    for (let depth = 0; at !== NO_PARENT && depth < MAX_DEPTH; depth++) {
      if (at === ancestorId) return true;
      at = await parentOf(at);
    }
    return false;
  };
}
