import { posix } from "node:path";
import { SANDBOX_WORKSPACE, fromSandboxPath } from "./sandbox-path.ts";

/** Where a repository's address leads. */
export type RepositoryAddress =
  | { readonly kind: "remote" }
  /** A path that is not in the workspace. */
  | { readonly kind: "outside" }
  /** As programs in the sandbox see it, and as git itself would go there. */
  | { readonly kind: "inside"; readonly path: string };

export interface AddressBase {
  /** Where relative paths start, inside the sandbox. */
  readonly directory: string;
  /** The workspace's own path on the host. */
  readonly workspace: string;
}

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//;

/** By the address's text alone, as git reads it. */
export function repositoryAddress(address: string, { directory, workspace }: AddressBase): RepositoryAddress {
  const scheme = SCHEME.exec(address)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "file") return { kind: "remote" };
  if (scheme === undefined && /^[^/]*:/.test(address)) return { kind: "remote" };
  const path = scheme === undefined ? address : decoded(address.slice("file://".length));
  if (path === undefined || path === "" || path.includes("\0")) return { kind: "outside" };
  if (scheme !== undefined && !path.startsWith("/")) return { kind: "outside" };
  const absolute = path.startsWith("/") ? path : `${directory}/${path}`;
  const own = `${workspace}/`;
  const inside = `${posix.normalize(absolute)}/`.startsWith(own) ? ownName(absolute, own) : absolute;
  return fromSandboxPath(inside) === undefined ? { kind: "outside" } : { kind: "inside", path: inside };
}

function ownName(path: string, own: string): string {
  return `${SANDBOX_WORKSPACE}/${`${posix.normalize(path)}/`.slice(own.length)}`.replace(/\/+$/, "");
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
