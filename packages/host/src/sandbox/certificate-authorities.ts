import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** Where systems keep the authorities that programs trust, and OpenSSL's settings. */
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
/** All authorities in one file, for a directory that is not shown. */
const BUNDLES = ["ca-certificates.crt", "ca-bundle.crt"];
const MAX_DEPTH = 4;
const OTHERS_READ = 0o004;

let found: readonly string[] | undefined;

/**
 * Files and directories of the host's certificate authorities, as they are shown inside every sandbox.
 *
 * SECURITY: keys of this host lie beside them (`/etc/ssl/private`), readable by groups that the user may be in; a
 * sandbox that root did not start keeps those groups. A directory in which a file is closed to other users is not shown.
 */
export function certificateAuthorities(): readonly string[] {
  found ??= PLACES.flatMap(publicPaths);
  return found;
}

/** The path itself, or the bundle in a directory that holds more than authorities. */
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
  // It leads to a file that is shown by itself, or to none.
  if (facts.isSymbolicLink()) return true;
  if ((facts.mode & OTHERS_READ) === 0 || depth > MAX_DEPTH) return false;
  return !facts.isDirectory() || readdirSync(path).every((name) => isPublicBelow(join(path, name), depth + 1));
}
