import { KernelError } from "@narthex/contracts";
import { createCallRandom } from "../../session/call-random.ts";
import { logicalTimeMs } from "../../session/logical-time.ts";
import type { ArtifactAccess, ContentAccess, ToolContext } from "../../tool/tool.ts";
import type { PermittedCall } from "../decide/decide.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/** The ports of one grant. A seeded tool sees the session's clock and random only; nothing here outlives the signal. */
export function createToolContext(call: PermittedCall, signal: AbortSignal, kernel: KernelParts): ToolContext {
  const { trail, live } = call;
  const { callNumber } = trail;
  const seeded = call.determinism === "pure" || call.determinism === "deterministic";
  const random = seeded ? createCallRandom(live.session.seed, callNumber) : kernel.random;
  return {
    requestId: call.requestId,
    session: live.session,
    callNumber,
    signal,
    nowMs: seeded ? () => logicalTimeMs(callNumber) : () => kernel.clock.nowMs(),
    randomBytes: (length) => random.bytes(length),
    get content() {
      return contentFor(call, kernel);
    },
    get artifacts() {
      return artifactsFor(call, kernel);
    },
  };
}

/** Reading adopts the content's labels: onto the call, and so onto its result and its session. */
function contentFor(call: PermittedCall, kernel: KernelParts): ContentAccess {
  const { live, trail } = call;
  const open = async (hashHex: string) => {
    const found = await kernel.content.find(live.id, hashHex);
    trail.addLabels(found.labels);
    return found;
  };
  return {
    stat: async (hashHex) => {
      const found = await open(hashHex);
      return { hash: hashHex, size: found.size, labels: found.labels };
    },
    read: async (hashHex, offset, limit) => kernel.content.read(await open(hashHex), offset, limit),
    stream: async function* (hashHex, offset, limit) {
      yield* kernel.content.stream(await open(hashHex), offset, limit);
    },
  };
}

function artifactsFor(call: PermittedCall, kernel: KernelParts): ArtifactAccess {
  const { live, trail } = call;
  return {
    publish: async (artifact) => {
      if (!call.effects.includes("artifact")) {
        throw new KernelError("UNDECLARED_EFFECT", `\`${call.registered.id}\` did not declare the effect \`artifact\``);
      }
      const content = await kernel.content.find(live.id, artifact.content_hash);
      trail.addLabels(content.labels);
      return kernel.artifacts.publish(artifact, content, {
        session: live.session,
        requestId: call.requestId,
        publishedAtMs: logicalTimeMs(trail.callNumber),
        labels: [...new Set([...content.labels, ...live.labels])].sort(),
      });
    },
    get: async (artifactId) => {
      const found = await kernel.artifacts.find(live.session.tenant, artifactId);
      if (found === undefined) return undefined;
      trail.addLabels(found.labels);
      trail.attach(found.reference);
      return found.artifact;
    },
  };
}
