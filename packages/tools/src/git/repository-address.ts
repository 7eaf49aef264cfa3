import { posix } from "node:path";
import { SANDBOX_WORKSPACE, fromSandboxPath } from "./sandbox-path.ts";

/** What a repository's address refers to. */
export type RepositoryAddress =
  | { readonly kind: "remote" }
  /** A path outside the workspace. */
  | { readonly kind: "outside" }
  /** The path as seen by programs in the sandbox, and as git itself would resolve it. */
  | { readonly kind: "inside"; readonly path: string };

export interface AddressBase {
  /** The directory that relative paths start from, inside the sandbox. */
  readonly directory: string;
  /** The path of the workspace on the host. */
  readonly workspace: string;
}

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//;

/** Classifies an address by its text alone, as git does. */
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
