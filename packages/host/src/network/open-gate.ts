import { readFile } from "node:fs/promises";
import { KernelError } from "@narthex/contracts";
import {
  type EgressCredential,
  type EgressGate,
  type HostPattern,
  type Redactor,
  secretRedactor,
} from "@narthex/kernel";
import type { EgressSecrets } from "../egress/egress-secrets.ts";
import { parseEgressUrl } from "../egress/egress-url.ts";
import { readSecrets } from "../secrets/read-secrets.ts";
import type { SecretSources } from "../secrets/secret-source.ts";
import { createLazyGate } from "./lazy-gate.ts";
import type { NetworkSettings } from "./network-settings.ts";

export interface OpenGateOptions {
  readonly settings: NetworkSettings;
  readonly sources: SecretSources;
  /** Providers with their URL and the secret that is sent there. */
  readonly providers: readonly { readonly url: string; readonly secret: string | undefined }[];
  readonly environment: NodeJS.ProcessEnv;
}

export interface OpenedGate {
  readonly gate: EgressGate;
  /** Credentials by tool. */
  readonly credentials: ReadonlyMap<string, readonly EgressCredential[]>;
  /**
   * Redactors of all configured secrets: everything that is stored, and the results of all tools, are searched for
   * them.
   */
  readonly redactors: readonly Redactor[];
  readonly secretNames: ReadonlySet<string>;
}

/** Opens the gate according to the configuration, with the secrets that may be sent through it. */
export async function openGate({ settings, sources, providers, environment }: OpenGateOptions): Promise<OpenedGate> {
  const hosts = hostsOf(settings, providers);
  const missing = [...hosts.keys()].find((name) => !sources.has(name));
  if (missing !== undefined) {
    throw new KernelError("CONFIG_INVALID", `the secret \`${missing}\` is named, and \`secrets\` does not have it`);
  }
  // SECURITY: every configured secret is redacted, whether or not it may be sent through the gate.
  const found = await readSecrets({ sources, environment });
  const secrets: EgressSecrets = new Map(
    [...hosts].map(([name, where]) => {
      const secret = found.get(name) ?? { problem: "it was not found" };
      return [name, "problem" in secret ? secret : { value: secret.value, hosts: where }];
    }),
  );
  const authorities = await readAuthorities(settings.authorities);
  const gate = createLazyGate(async () => {
    const { loadGate } = await import("./load-gate.ts");
    return loadGate({ secrets, dns: settings.dns, authorities });
  });
  const redactors = [...found].flatMap(([name, secret]) =>
    "problem" in secret ? [] : [secretRedactor(name, secret.value)],
  );
  return {
    gate,
    credentials: new Map([["git", settings.credentials.map(credentialOf)]]),
    redactors,
    secretNames: new Set(hosts.keys()),
  };
}

/**
 * A secret may be sent to the hosts configured for it, to the hosts of git credentials that use it, and to the provider
 * whose key it is.
 */
function hostsOf(
  { secrets, credentials }: NetworkSettings,
  providers: OpenGateOptions["providers"],
): ReadonlyMap<string, readonly HostPattern[]> {
  const hosts = new Map(secrets);
  const add = (secret: string, more: readonly HostPattern[]): unknown =>
    hosts.set(secret, [...(hosts.get(secret) ?? []), ...more]);
  for (const { secret, hosts: own } of credentials) add(secret, own);
  for (const { url, secret } of providers) {
    if (secret === undefined) continue;
    const { host, port } = parseEgressUrl(url);
    add(secret, [{ host, ports: [port] }]);
  }
  return hosts;
}

function credentialOf({ hosts, secret, user }: NetworkSettings["credentials"][number]): EgressCredential {
  return { hosts, header: "authorization", value: { secret, basicUser: user } };
}

async function readAuthorities(files: readonly string[]): Promise<readonly string[]> {
  return await Promise.all(
    files.map((file) =>
      readFile(file, "utf8").catch((cause: unknown) => {
        throw new KernelError("CONFIG_INVALID", `the certificates in \`${file}\` cannot be read`, { cause });
      }),
    ),
  );
}
