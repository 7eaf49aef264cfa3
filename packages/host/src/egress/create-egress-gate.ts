import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EgressClient, EgressGate, EgressProxy, EgressTimes } from "@narthex/kernel";
import type { EgressSecrets } from "./egress-secrets.ts";
import { openEgressClient } from "./open-egress-client.ts";
import { openProxy } from "./open-proxy.ts";
import { createHostResolver, type LookUp, systemLookUp } from "./resolve-host.ts";
import { tryToRemoveOwnTree } from "../system/remove-own-tree.ts";

export interface EgressGateOptions {
  readonly secrets?: EgressSecrets;
  /** Resolves names; the system's resolver by default. */
  readonly lookUp?: LookUp;
  readonly times?: Partial<EgressTimes>;
  /** Trusted CA certificates, in PEM; those of Node by default. */
  readonly authorities?: readonly string[];
}

const TIMES: EgressTimes = { resolveMs: 10_000, connectMs: 10_000, headersMs: 60_000, idleMs: 30_000 };
const NO_SECRETS: EgressSecrets = new Map();

export function createEgressGate(options: EgressGateOptions): EgressGate {
  const { secrets = NO_SECRETS, lookUp = systemLookUp, authorities } = options;
  const times = { ...TIMES, ...options.times };
  const parts = { resolver: createHostResolver(lookUp, times.resolveMs), times, authorities };
  let folder: Promise<string> | undefined;
  const open = new Set<EgressClient | EgressProxy>();
  const known = <T extends EgressClient | EgressProxy>(opened: T): T => {
    const close = async (): Promise<void> => {
      open.delete(closing);
      await opened.close();
    };
    const closing: T = { ...opened, close };
    open.add(closing);
    return closing;
  };
  return {
    open: (pass) => known(openEgressClient(pass, parts, secrets)),
    async openProxy(pass) {
      folder ??= makeFolder();
      return known(await openProxy(pass, { ...parts, secrets, folder: await folder }));
    },
    async close() {
      await Promise.all([...open].map((one) => one.close()));
      if (folder !== undefined) tryToRemoveOwnTree(await folder);
    },
  };
}

/**
 * The user that a sandbox runs as must be able to traverse the folder to its socket, so the folder is traversable for
 * others but not listable.
 */
async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "narthex-gate-"));
  await chmod(folder, 0o711);
  return folder;
}
