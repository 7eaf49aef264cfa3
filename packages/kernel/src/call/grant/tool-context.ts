import { KernelError } from "@narthex/contracts";
import { createCallRandom } from "../../session/call-random.ts";
import { logicalTimeMs } from "../../session/logical-time.ts";
import type { ArtifactAccess, ContentAccess, ToolContext } from "../../tool/tool.ts";
import type { PermittedCall } from "../decide/decide.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/** A tool's context, and the means to end it. */
export interface OwnedContext {
  readonly context: ToolContext;
  /** Aborts the tool's signal. */
  abort(reason: string): void;
  /** From now on the context opens nothing. */
  close(): void;
}

/** Throws once the call has ended. */
type Guard = () => void;

/**
 * The ports of one grant. A seeded tool sees the session's clock and random only.
 *
 * SECURITY: nothing here outlives the call. A tool that goes on after its time-out, or keeps its context for later,
 * finds every port closed: its outcome is sealed, and nothing it did would be recorded with it.
 */
export function createToolContext(call: PermittedCall, kernel: KernelParts): OwnedContext {
  const { trail, live } = call;
  const { callNumber } = trail;
  const controller = new AbortController();
  let isOpen = true;
  const guard: Guard = () => {
    if (!isOpen) throw new KernelError("CANCELLED", "the call has ended; its context is closed");
  };
  const seeded = call.determinism === "pure" || call.determinism === "deterministic";
  const random = seeded ? createCallRandom(live.session.seed, callNumber) : kernel.random;
  return {
    context: {
      requestId: call.requestId,
      session: live.toolSession,
      callNumber,
      signal: controller.signal,
      nowMs: seeded ? () => logicalTimeMs(callNumber) : () => kernel.clock.nowMs(),
      randomBytes: (length) => random.bytes(length),
      get content() {
        return contentFor(call, guard, kernel);
      },
      get artifacts() {
        return artifactsFor(call, guard, kernel);
      },
    },
    abort(reason) {
      isOpen = false;
      controller.abort(reason);
    },
    close() {
      isOpen = false;
    },
  };
}

/** Reading adopts the content's labels: onto the call, and so onto its result and its session. */
function contentFor(call: PermittedCall, guard: Guard, kernel: KernelParts): ContentAccess {
  const { live, trail } = call;
  const open = async (hashHex: string) => {
    guard();
    const found = await kernel.content.find(live.id, hashHex);
    guard();
    trail.addLabels(found.labels);
    return found;
  };
  return {
    stat: async (hashHex) => {
      const found = await open(hashHex);
      return { hash: hashHex, size: found.size, labels: found.labels };
    },
    read: async (hashHex, offset, limit) => {
      const bytes = await kernel.content.read(await open(hashHex), offset, limit);
      guard();
      return bytes;
    },
    stream: async function* (hashHex, offset, limit) {
      for await (const chunk of kernel.content.stream(await open(hashHex), offset, limit)) {
        guard();
        yield chunk;
      }
    },
  };
}

function artifactsFor(call: PermittedCall, guard: Guard, kernel: KernelParts): ArtifactAccess {
  const { live, trail } = call;
  return {
    publish: async (artifact) => {
      guard();
      if (!call.effects.includes("artifact")) {
        throw new KernelError("UNDECLARED_EFFECT", `\`${call.registered.id}\` did not declare the effect \`artifact\``);
      }
      const content = await kernel.content.find(live.id, artifact.content_hash);
      guard();
      trail.addLabels(content.labels);
      return kernel.artifacts.publish(artifact, content, {
        session: live.session,
        requestId: call.requestId,
        publishedAtMs: logicalTimeMs(trail.callNumber),
        labels: [...new Set([...trail.labels, ...live.labels])].sort(),
        verifyOpen: guard,
      });
    },
    get: async (artifactId) => {
      guard();
      const found = await kernel.artifacts.find(live.session.tenant, artifactId);
      guard();
      if (found === undefined) return undefined;
      trail.addLabels(found.labels);
      trail.attach(found.reference);
      return found.artifact;
    },
  };
}
