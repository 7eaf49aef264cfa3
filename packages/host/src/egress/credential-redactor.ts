import { KernelError } from "@narthex/contracts";
import { createStreamRedactor, type Redactor, redactText, type StreamRedactor, secretForms } from "@narthex/kernel";
import type { EgressSecret } from "./egress-secrets.ts";

/** What the gate added to a request, taken out of the answer again. */
export interface CredentialRedactor {
  headers(headers: readonly string[]): string[];
  body(): StreamRedactor;
}

const redactorCache = new WeakMap<EgressSecret, CredentialRedactor>();

/**
 * Hides a credential in what a server answers a program: servers quote what they were shown, in an error, a redirect or a
 * header, and the program is the agent's.
 *
 * It is written over, character by character: what says how long something is stays true.
 */
export function credentialRedactorFor(secret: EgressSecret): CredentialRedactor {
  const known = redactorCache.get(secret);
  if (known !== undefined) return known;
  const redactors: readonly Redactor[] = secretForms(secret.value).map((form) => ({
    secrets: [form],
    replacement: "*".repeat(Buffer.byteLength(form)),
  }));
  const cover: CredentialRedactor = {
    headers: (headers) => headers.map((text, index) => (index % 2 === 0 ? text : redactText(text, redactors))),
    body: () => createStreamRedactor(redactors),
  };
  redactorCache.set(secret, cover);
  return cover;
}

/** SECURITY: what is packed cannot be looked through. It was not asked for. */
export function rejectCompressed(headers: readonly string[]): void {
  for (let i = 0; i + 1 < headers.length; i += 2) {
    if (headers[i]?.toLowerCase() === "content-encoding" && !/^\s*(?:identity)?\s*$/i.test(headers[i + 1] ?? "")) {
      throw new KernelError(
        "UPSTREAM_ERROR",
        "the answer is packed, though it was shown a credential and asked not to",
      );
    }
  }
}
