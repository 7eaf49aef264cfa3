import { isKernelError, KernelError } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { ToolContext } from "../../tool/tool.ts";
import { type HostFunction, hostFunction } from "../../wasm/host-functions.ts";
import { type HostCallResult, SeededHostCalls } from "../../wasm/seeded-host-calls.ts";
import type { HostCall, HostFault } from "../../wasm/wasm-runner.ts";
import type { PermittedCall } from "../decide/decide.ts";
import type { WasmTrace } from "../wasm-trace.ts";
import { handleFetch } from "./host-fetch.ts";
import { readFile, writeFile } from "./host-files.ts";
import { holdsRight } from "./host-rights.ts";
import { keepContent } from "./keep-content.ts";

/** Maximum number of calls, for functions of which every call is remembered until the outcome. */
const MAX_CALLS: Partial<Readonly<Record<HostFunction, number>>> = {
  fs_read: 10_000,
  fs_write: 10_000,
  content_put: 1000,
};

/**
 * Handles the host calls of a module, under the grant of its call.
 *
 * SECURITY: a module can make any request at any time, and so can a host process that it has taken over. Each host call
 * is checked against the call's effects and rights, here and by the ports that carry it out, and counted before it gets
 * a response.
 */
export class HostCalls {
  readonly #call: PermittedCall;
  readonly #context: ToolContext;
  readonly #log: WasmTrace;
  readonly #kernel: KernelParts;
  readonly #counts = new Map<HostFunction, number>();
  readonly #seeded: SeededHostCalls;
  #fault: Error | undefined;

  constructor(call: PermittedCall, context: ToolContext, log: WasmTrace, kernel: KernelParts) {
    this.#call = call;
    this.#context = context;
    this.#log = log;
    this.#kernel = kernel;
    const hasClock = call.live.lease.capabilities.some(({ kind }) => kind === "clock");
    this.#seeded = new SeededHostCalls(context, hasClock);
  }

  /** Handles one host call; throws the error with which the call ends. */
  async handle({ code, request }: HostCall): Promise<HostCallResult> {
    const name = hostFunction(code);
    if (name === undefined) return "invalid";
    try {
      this.#count(name);
      const answer = await this.#answer(name, request);
      this.#log.noteCall(name, request.length, typeof answer === "string" ? 0 : answer.length);
      return answer;
    } catch (fault) {
      const told = isKernelError(fault) ? HOST_FAULTS_BY_CODE.get(fault.code) : undefined;
      this.#log.noteCall(name, request.length, 0);
      if (told !== undefined && this.#call.trail.network?.undeclared === undefined) return told;
      const undeclared = this.#call.trail.network?.undeclared;
      this.#fault ??= undeclared ?? (fault instanceof Error ? fault : new Error(String(fault)));
      throw this.#fault;
    }
  }

  /** Throws the error for which a host call ended the module, if one did. */
  throwFault(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Keeps the module's log lines like the output of a program, also for a failed call. */
  async keepLog(): Promise<void> {
    const lines = this.#seeded.takeLines();
    if (lines.length === 0) return;
    const chunks = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.concat(lines);
    };
    await keepContent(this.#call, () => undefined, chunks(), this.#kernel);
  }

  #count(name: HostFunction): void {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const most = MAX_CALLS[name];
    if (most === undefined || count <= most) return;
    throw new KernelError("RESOURCE_EXCEEDED", `host calls to ${name}: at most ${most}, and it came to ${count}`);
  }

  #answer(name: HostFunction, request: Uint8Array): HostCallResult | Promise<HostCallResult> {
    switch (name) {
      case "log":
      case "clock":
      case "random":
        return this.#seeded.handle(name, request);
      case "has_capability":
        return Uint8Array.of(holdsRight(this.#call, request) ? 1 : 0);
      case "fs_read":
        return readFile(this.#call, this.#context, request);
      case "fs_write":
        return writeFile(this.#call, this.#context, request, this.#kernel);
      case "fetch":
        return handleFetch(this.#context, request);
      case "content_get":
      case "content_put":
        this.#refusePure();
        return this.#seeded.handle(name, request);
    }
  }

  /** SECURITY: pure modules of all sessions share a process, so they get no access to anything of a session. */
  #refusePure(): void {
    const { determinism, registered } = this.#call;
    if (determinism !== "pure") return;
    const message = `\`${registered.id}\` is pure and asked for content: declare it deterministic`;
    throw new KernelError("UNDECLARED_EFFECT", message);
  }
}

/** Errors that are reported to the module, which may continue. Any other error ends its call. */
const HOST_FAULTS_BY_CODE: ReadonlyMap<string, HostFault> = new Map([
  ["INVALID_INPUT", "invalid"],
  ["PATH_ESCAPE", "denied"],
  ["NETWORK_BLOCKED", "denied"],
  ["FILE_NOT_FOUND", "not_found"],
  ["CONTENT_NOT_FOUND", "not_found"],
  ["NOT_A_FILE", "failed"],
  ["NOT_A_DIRECTORY", "failed"],
  ["UPSTREAM_ERROR", "failed"],
]);
