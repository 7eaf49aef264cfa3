import { coversTarget } from "../egress/egress-secrets.ts";
import { parseEgressUrl } from "../egress/egress-url.ts";
import type { NetworkSettings } from "../network/network-settings.ts";

/** Returns why the egress gate would not send this secret to a URL, or undefined if it would. */
export function secretProblem(secret: string, url: string, { secrets }: NetworkSettings): string | undefined {
  const target = parseEgressUrl(url);
  const hosts = secrets.get(secret) ?? [];
  if (coversTarget(hosts, target)) return undefined;
  return `the secret \`${secret}\` may not be sent to \`${target.host}\`: name that host under \`network.secrets\` in narthex.yaml`;
}
