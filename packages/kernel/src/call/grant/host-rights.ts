import type { Capability } from "../../capability/capability.ts";
import { coveredByAny, isWithin } from "../../capability/covers.ts";
import { canonicalHost } from "../../capability/host-pattern.ts";
import { EFFECT_RIGHTS } from "../../tool/effect-rules.ts";
import { absolutePath } from "../../tool/workspace-path.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { decodeText } from "./host-files.ts";

const MAX_REQUEST_BYTES = 8192;
const HOST_AND_PORT = /^(?<host>.+?)(?::(?<port>[0-9]{1,5}))?$/;

/**
 * The host function `has_capability`: a kind, or a kind and one thing of that kind: `fs_read`, `fs_read src/a.txt`,
 * `net_read example.com:443`, `clock`. Whether the session's lease has it and the tool declared the effect; false for a
 * request that cannot be parsed.
 */
export function holdsRight({ live, effects }: PermittedCall, request: Uint8Array): boolean {
  const text = request.length > MAX_REQUEST_BYTES ? undefined : decodeText(request);
  if (text === undefined) return false;
  const { capabilities } = live.lease;
  const [kind = "", ...words] = text.split(" ");
  const scope = words.join(" ");
  if (kind === "clock") return scope === "" && coveredByAny(capabilities, { kind });
  if (kind !== "fs_read" && kind !== "fs_write" && kind !== "net_read" && kind !== "net_write") return false;
  if (!effects.includes(kind)) return false;
  if (scope === "") return coveredByAny(capabilities, EFFECT_RIGHTS[kind]);
  const right = rightTo(kind, scope, live.toolSession);
  return right !== undefined && isWithin([right], capabilities);
}

function rightTo(
  kind: "fs_read" | "fs_write" | "net_read" | "net_write",
  scope: string,
  session: PermittedCall["live"]["toolSession"],
): Capability | undefined {
  if (kind === "net_read" || kind === "net_write") {
    const { host = "", port } = HOST_AND_PORT.exec(scope)?.groups ?? {};
    const canonical = canonicalHost(host);
    if (canonical === undefined || canonical.includes("*")) return undefined;
    return { kind, hosts: [port === undefined ? { host: canonical } : { host: canonical, ports: [Number(port)] }] };
  }
  try {
    return { kind, prefixes: [absolutePath(scope, session)] };
  } catch {
    return undefined;
  }
}
