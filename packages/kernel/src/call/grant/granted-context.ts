import { ContentPlace, KernelError } from "@narthex/contracts";
import type { Capability } from "../../capability/capability.ts";
import { createCallRandom } from "../../session/call-random.ts";
import { logicalTimeMs } from "../../session/logical-time.ts";
import type {
  ArtifactAccess,
  ContentAccess,
  FileAccess,
  NetworkAccess,
  ProgramAccess,
  ShellAccess,
  SpendingAccess,
  ToolContext,
  ToolSession,
  VaultAccess,
  WasmAccess,
} from "../../tool/tool.ts";
import type { PageReader } from "../../page-reader.ts";
import type { PermittedCall } from "../decide/decide.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { adoptLabels } from "../adopt-labels.ts";
import { requireAnyEffect } from "../with-effect.ts";
import { createFileAccess } from "./file-access.ts";
import { keepContent } from "./keep-content.ts";
import { createNetworkAccess } from "./network-access.ts";
import { createProgramAccess } from "./program-access.ts";
import { createShellAccess } from "./shell-access.ts";
import { timeLeftMs } from "./time-left.ts";
import { createSpendingAccess } from "./spending-access.ts";
import { createVaultAccess } from "./vault-access.ts";
import { createWasmAccess } from "./wasm-access.ts";

/** Throws once the call has ended. */
type Guard = () => void;

/**
 * The ports of one grant. A seeded tool sees the session's clock and random numbers only.
 *
 * SECURITY: nothing here outlives the call. A tool that continues after its time-out, or keeps its context for later,
 * finds every port closed: its outcome is sealed, and nothing it did would be recorded with it.
 *
 * A class, because an object literal with getters costs a hidden class of its own for each call. Most tools need
 * neither signal nor ports, so these are created when they are accessed; methods are bound, so they can be
 * destructured.
 */
export class GrantedContext implements ToolContext {
  readonly requestId: string;
  readonly session: ToolSession;
  readonly callNumber: number;
  readonly nowMs: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly #call: PermittedCall;
  readonly #kernel: KernelParts;
  #controller: AbortController | undefined;
  #aborted: string | undefined;
  #isOpen = true;

  constructor(call: PermittedCall, kernel: KernelParts) {
    const { trail, live, determinism } = call;
    const { callNumber } = trail;
    const isSeeded = determinism === "pure" || determinism === "deterministic";
    this.requestId = call.requestId;
    this.session = live.toolSession;
    this.callNumber = callNumber;
    this.nowMs = isSeeded ? () => logicalTimeMs(callNumber) : () => kernel.clock.nowMs();
    let random = isSeeded ? undefined : kernel.random;
    this.randomBytes = (length) => {
      random ??= createCallRandom(live.session.seed, callNumber);
      return random.bytes(length);
    };
    this.#call = call;
    this.#kernel = kernel;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    return this.#controller.signal;
  }

  get timeLeftMs(): ToolContext["timeLeftMs"] {
    return () => timeLeftMs(this.#call, this.#kernel);
  }

  get decide(): ToolContext["decide"] {
    return (needed: readonly Capability[]) => {
      this.#guard();
      this.#kernel.redecide(this.#call, needed, this.#kernel);
    };
  }

  get content(): ContentAccess {
    return createContentAccess(this.#call, () => this.#guard(), this.#kernel);
  }

  get artifacts(): ArtifactAccess {
    return createArtifactAccess(this.#call, () => this.#guard(), this.#kernel);
  }

  get files(): FileAccess {
    return createFileAccess(
      this.#call,
      () => this.#guard(),
      () => this.signal,
      this.#kernel,
    );
  }

  get programs(): ProgramAccess {
    return createProgramAccess(
      this.#call,
      () => this.#guard(),
      () => this.signal,
      this.#kernel,
    );
  }

  get shell(): ShellAccess {
    return createShellAccess(
      this.#call,
      () => this.#guard(),
      () => this.signal,
      this.#kernel,
    );
  }

  get vault(): VaultAccess {
    const { files } = this;
    return createVaultAccess(
      this.#call,
      { guard: () => this.#guard(), signal: () => this.signal, files },
      this.#kernel,
    );
  }

  get network(): NetworkAccess {
    return createNetworkAccess(
      this.#call,
      () => this.#guard(),
      () => this.signal,
      this.#kernel,
    );
  }

  get pages(): PageReader {
    const { pages } = this.#kernel;
    if (pages === undefined) throw new KernelError("SANDBOX_UNAVAILABLE", "this kernel reads no pages");
    return pages;
  }

  get spending(): SpendingAccess {
    return createSpendingAccess(this.#call, () => this.#guard());
  }

  get wasm(): WasmAccess {
    return createWasmAccess(this.#call, () => this.#guard(), this, this.#kernel);
  }

  /**
   * Closes all ports of the context. With a reason, aborts its signal. Static, out of the tool's reach: see `grant`.
   */
  static end(context: GrantedContext, reason?: string): void {
    context.#isOpen = false;
    context.#call.trail.network?.close();
    if (reason === undefined) return;
    context.#aborted ??= reason;
    context.#controller?.abort(context.#aborted);
  }

  #guard(): void {
    if (!this.#isOpen) throw new KernelError("CANCELLED", "the call has ended; its context is closed");
  }
}

/**
 * Creates access to stored content. Reading adds the content's labels to the call, and so to its result and its
 * session.
 */
function createContentAccess(call: PermittedCall, guard: Guard, kernel: KernelParts): ContentAccess {
  const { live } = call;
  const open = async (hashHex: string) => {
    guard();
    const found = await kernel.content.find(live.id, hashHex);
    guard();
    await adoptLabels(call, found.labels, kernel);
    guard();
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
    keep: (chunks) => keepContent(call, guard, chunks, kernel),
  };
}

function createArtifactAccess(call: PermittedCall, guard: Guard, kernel: KernelParts): ArtifactAccess {
  const { live, trail } = call;
  return {
    publish: async (artifact) => {
      guard();
      if (!call.effects.includes("artifact")) {
        throw new KernelError("UNDECLARED_EFFECT", `\`${call.registered.id}\` did not declare the effect \`artifact\``);
      }
      const content = await kernel.content.find(live.id, artifact.content_hash);
      guard();
      await adoptLabels(call, content.labels, kernel);
      guard();
      return kernel.artifacts.publish(artifact, content, {
        session: live.session,
        requestId: call.requestId,
        publishedAtMs: logicalTimeMs(trail.callNumber),
        labels: [...new Set([...trail.labels, ...live.labels])].sort(),
        verifyOpen() {
          guard();
          requireAnyEffect(trail);
          trail.beginEffect();
        },
      });
    },
    get: async (artifactId) => {
      guard();
      const found = await kernel.artifacts.find(live.session.tenant, artifactId);
      guard();
      if (found === undefined) return undefined;
      await adoptLabels(call, found.labels, kernel);
      guard();
      trail.attach(found.reference);
      if (found.reference.place === ContentPlace.NONE) trail.isRedacted = true;
      return found.artifact;
    },
  };
}
