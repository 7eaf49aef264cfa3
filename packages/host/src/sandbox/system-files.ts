import { lstatSync, readlinkSync } from "node:fs";
import { HOME_PATH, type SandboxIdentity } from "./sandbox-plan.ts";

/** Synthetic files of `/etc`: users, names and addresses of the host are not visible inside. */
export interface SystemFiles {
  readonly passwd: string;
  readonly group: string;
  readonly hosts: string;
  readonly "nsswitch.conf": string;
}

export function createSystemFiles({ uid, gid }: SandboxIdentity): SystemFiles {
  return {
    passwd: `agent:x:${uid}:${gid}:agent:${HOME_PATH}:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n`,
    group: `agent:x:${gid}:\nnogroup:x:65534:\n`,
    hosts: "127.0.0.1 localhost sandbox\n::1 localhost sandbox\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
  };
}

/** `/bin`, `/lib` and similar directories as on this host: links into `/usr`. */
export const SYSTEM_LINKS: ReadonlyArray<readonly [target: string, path: string]> = [
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
].flatMap((path) => {
  const target = linkTarget(path);
  return target === undefined ? [] : [[target, path] as const];
});

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}
