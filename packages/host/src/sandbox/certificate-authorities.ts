import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** Where systems keep trusted certificate authorities and the settings of OpenSSL. */
const PLACES = [
  "/etc/ssl/certs",
  "/etc/ssl/cert.pem",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/openssl.cnf",
  "/etc/ca-certificates/extracted",
  "/etc/pki/ca-trust/extracted",
  "/etc/pki/tls/certs",
  "/etc/pki/tls/cert.pem",
  "/etc/pki/tls/openssl.cnf",
  "/var/lib/ca-certificates",
];
/** Files with all authorities, used when their directory itself is not shown. */
const BUNDLES = ["ca-certificates.crt", "ca-bundle.crt"];
const MAX_DEPTH = 4;
const OTHERS_READ = 0o004;

let found: readonly string[] | undefined;

/**
 * Returns the host's files and directories of certificate authorities that are mounted in every sandbox.
 *
 * SECURITY: private keys of the host are stored next to them (`/etc/ssl/private`), readable by groups that the user may
 * be in; a sandbox not started by root keeps those groups. So a directory is hidden if it contains a file that other
 * users cannot read.
 */
export function certificateAuthorities(): readonly string[] {
  found ??= PLACES.flatMap(publicPaths);
  return found;
}

/** Returns the path itself, or only the bundle if the directory contains anything that is not public. */
export function publicPaths(path: string): string[] {
  if (isPublic(path)) return [path];
  return BUNDLES.map((name) => join(path, name)).filter((bundle) => isPublic(bundle));
}

function isPublic(path: string): boolean {
  try {
    return isPublicBelow(realpathSync(path), 0);
  } catch {
    return false;
  }
}

function isPublicBelow(path: string, depth: number): boolean {
  const facts = lstatSync(path);
  // A link's target is visible inside only if it is mounted itself.
  if (facts.isSymbolicLink()) return true;
  if ((facts.mode & OTHERS_READ) === 0 || depth > MAX_DEPTH) return false;
  return !facts.isDirectory() || readdirSync(path).every((name) => isPublicBelow(join(path, name), depth + 1));
}
