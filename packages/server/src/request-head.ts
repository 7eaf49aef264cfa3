import { peekRequestHead } from "@narthex/contracts";

/** Reads the id and the token at the front of an encoded request; empty if they are not there. */
export function parseRequestHead(bytes: Uint8Array): { readonly requestId: string; readonly sessionToken: string } {
  const head = peekRequestHead(bytes);
  return { requestId: head?.requestId ?? "", sessionToken: head?.sessionToken ?? "" };
}
