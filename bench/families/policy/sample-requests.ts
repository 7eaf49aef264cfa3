import type { CedarRequest } from "../../../packages/kernel/src/policy/cedar/cedar.ts";
import { toolName } from "./sample-rules.ts";

const COUNT = 64;

/** What a kernel asks: an agent with its user and tenant, a workspace, and facts of the call. */
export function sampleRequests(tools: number): CedarRequest[] {
  return Array.from({ length: COUNT }, (_, number) => requestOf(number, toolName((number * 7) % tools)));
}

/** Facts by which some rule of each kind is satisfied once in a while. */
function requestOf(number: number, tool: string): CedarRequest {
  const tenant = `tenant${number % 16}`;
  const [agent, user] = [`agent${number}`, `user${number % 4}`];
  const path = `/home/${user}/project`;
  const inTenant = { type: "Tenant", id: tenant };
  const ofUser = { type: "User", id: user };
  return {
    principal: { type: "Agent", id: agent },
    action: { type: "Action", id: tool },
    resource: { type: "Workspace", id: path },
    context: {
      tool,
      version: "1.0.0",
      tier: number % 3 === 0 ? "external" : "workspace",
      effects: number % 2 === 0 ? ["fs_read", "fs_write"] : ["fs_read", "net_write"],
      labels: number % 4 === 0 ? ["untrusted", `label${number % 16}`] : ["untrusted"],
      calls: number * 40,
      path: `src/area${number % 32}/main.ts`,
      host: `host${number}.example`,
      tenant,
      input: { path: `src/area${number % 32}/main.ts`, limit: 100 },
      budget: { calls: 1000 },
    },
    entities: [
      {
        uid: { type: "Agent", id: agent },
        attrs: { name: agent, user, tenant, session: `ses_${number}` },
        parents: [ofUser, inTenant],
      },
      { uid: ofUser, attrs: { name: user, tenant }, parents: [inTenant] },
      { uid: inTenant, attrs: { name: tenant }, parents: [] },
      { uid: { type: "Workspace", id: path }, attrs: { path }, parents: [] },
    ],
  };
}
