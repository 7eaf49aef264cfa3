import { KernelError } from "@narthex/contracts";
import { createStreamRedactor, type Redactor, redactText, type StreamRedactor, secretForms } from "@narthex/kernel";
import type { EgressSecret } from "./egress-secrets.ts";

/** Removes a credential that the gate added to a request from the response. */
export interface CredentialRedactor {
  headers(headers: readonly string[]): string[];
  body(): StreamRedactor;
}

const redactorCache = new WeakMap<EgressSecret, CredentialRedactor>();

/**
 * Hides a credential in the response of a server: servers echo request data in errors, redirects and headers, and the
 * program that reads the response is under the agent's control.
 *
 * The credential is overwritten character by character, so that all length fields stay correct.
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

/** SECURITY: a compressed response cannot be scanned. The request did not accept compression. */
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
