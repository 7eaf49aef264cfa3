import { KernelError } from "@narthex/contracts";
import { ReservedBytes } from "../budget/reserved-bytes.ts";
import type { Capability, NetworkCapability } from "../capability/capability.ts";
import { isWithin } from "../capability/covers.ts";
import type {
  EgressEvent,
  EgressClient,
  EgressGate,
  EgressGrant,
  EgressProxy,
  EgressTarget,
  EgressAccounting,
} from "../egress.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { redactText } from "../result/redact.ts";
import type { PermittedCall } from "./decide/decide.ts";

const DEFAULT_REQUESTS = 1000;
const DEFAULT_BYTES = 256 * 1024 * 1024;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Bytes are reserved in steps, so that a stream does not use the budget account for every chunk. */
const STEP_BYTES = 64 * 1024;
/** Maximum number of hosts that the call did not name, each of which is decided on. */
const MAX_MORE_HOSTS = 100;

/**
 * Network access of one call: to hosts that it named and that were decided on, and to others that are decided on as
 * they turn up, through a redirect or a program.
 *
 * SECURITY: nothing here outlives the call, and its requests are in the ledger with its outcome.
 */
export class CallNetwork {
  readonly #call: PermittedCall;
  readonly #kernel: KernelParts;
  readonly #gate: EgressGate;
  readonly #more = new Map<string, KernelError | undefined>();
  readonly #reserved: ReservedBytes | undefined;
  #exit: EgressClient | undefined;
  #bytes = 0;
  #isClosed = false;
  #undeclared: KernelError | undefined;

  constructor(call: PermittedCall, gate: EgressGate, kernel: KernelParts) {
    this.#call = call;
    this.#gate = gate;
    this.#kernel = kernel;
    const { account, lease } = call.live;
    if (lease.budgets.network_bytes !== undefined) this.#reserved = new ReservedBytes(account, "network_bytes");
  }

  get client(): EgressClient {
    this.#exit ??= this.#gate.open(this.#pass(DEFAULT_REQUESTS));
    return this.#exit;
  }

  /**
   * The error of a request outside the call's declared effects. The call ends with it, however a program handles the
   * refusal.
   */
  get undeclared(): KernelError | undefined {
    return this.#undeclared;
  }

  openProxy(): Promise<EgressProxy> {
    return this.#gate.openProxy(this.#pass(this.#kernel.programRequests));
  }

  accounting(): EgressAccounting {
    return { onEvent: (event) => this.#note(event), charge: (bytes) => this.#charge(bytes) };
  }

  /** Ends every request that still runs; returns the number of bytes transferred. */
  close(): number {
    if (this.#isClosed) return this.#bytes;
    this.#isClosed = true;
    void this.#exit?.close();
    return this.#bytes;
  }

  /** Frees the reserved bytes that were not used. */
  settle(): void {
    this.#reserved?.settle(0);
  }

  #pass(requests: number): EgressGrant {
    const { bounds, name } = this.#call.registered.tool;
    return {
      admit: (target) => this.#admit(target),
      isGranted: (address, port, sends) => this.#isGranted(address, port, sends),
      bounds: {
        maxRequests: bounds.maxNetworkRequests ?? requests,
        maxBytes: bounds.maxNetworkBytes ?? DEFAULT_BYTES,
        maxBodyBytes: MAX_BODY_BYTES,
      },
      credentials: this.#kernel.egressCredentials.get(name) ?? [],
      ...this.accounting(),
      onEvent: (event) => {
        // INVARIANT: every request has reported its event by the time the call's outcome is recorded: see `close`.
        if (event.mayHaveEffect) this.#call.trail.beginEffect();
        this.#note(event);
      },
    };
  }

  #admit(target: EgressTarget): void {
    const { effects, registered, needed } = this.#call;
    const right = toNetworkCapability(target);
    if (isEndpoint(registered.tool.endpoints, target) && effects.includes("inference")) return;
    const isDeclared = effects.includes("net_write") || (!target.sends && effects.includes("net_read"));
    if (!isDeclared) {
      const message = `\`${registered.id}\` did not declare the effect \`${right.kind}\` for what it asked of ${target.host}`;
      this.#undeclared ??= new KernelError("UNDECLARED_EFFECT", message);
      throw this.#undeclared;
    }
    if (isHeld(needed, right)) return;
    if (namesHosts(registered.tool.capabilities)) {
      const message = `\`${registered.id}\` did not declare that it asks ${target.host}:${target.port}`;
      this.#undeclared ??= new KernelError("UNDECLARED_EFFECT", message);
      throw this.#undeclared;
    }
    const key = `${target.host} ${target.port} ${target.sends}`;
    if (!this.#more.has(key)) this.#more.set(key, this.#decide(right));
    const refused = this.#more.get(key);
    if (refused !== undefined) throw refused;
  }

  #decide(right: NetworkCapability): KernelError | undefined {
    if (this.#more.size >= MAX_MORE_HOSTS) {
      return new KernelError("NETWORK_BLOCKED", `host: more than ${MAX_MORE_HOSTS} hosts that the call did not name`);
    }
    const denied = this.#kernel.decideHost(this.#call, right, this.#kernel);
    return denied === undefined ? undefined : new KernelError("NETWORK_BLOCKED", `host: ${denied}`);
  }

  /**
   * SECURITY: only this exact address counts. A pattern, or `*`, never covers an address that is not public; and the
   * right to send to a name does not, through the address that it resolves to, include sending to an address that may
   * only be read from.
   */
  #isGranted(address: string, port: number, sends: boolean): boolean {
    const { live, registered } = this.#call;
    const isExact = ({ hosts }: NetworkCapability): boolean =>
      hosts.some(({ host, ports }) => host === address && (ports === undefined || ports.includes(port)));
    return (
      live.lease.capabilities.some(
        (held) => (held.kind === "net_write" || (held.kind === "net_read" && !sends)) && isExact(held),
      ) || isExact({ kind: "net_write", hosts: registered.tool.endpoints ?? [] })
    );
  }

  #charge(bytes: number): void {
    this.#bytes += bytes;
    const reserved = this.#reserved;
    if (reserved === undefined || reserved.bytes >= this.#bytes) return;
    const missing = this.#bytes - reserved.bytes;
    // If a whole step no longer fits, the missing bytes alone may.
    if (missing < STEP_BYTES && reserved.add(STEP_BYTES) === undefined) return;
    const shortfall = reserved.add(missing);
    if (shortfall === undefined) return;
    const { live, trail } = this.#call;
    trail.add({ case: "budgetExceeded", value: { leaseId: live.lease.id, ...shortfall } });
    throw new KernelError(
      "RESOURCE_EXCEEDED",
      `network bytes: the budget has ${shortfall.remaining} left, and the call needs ${shortfall.asked} more`,
    );
  }

  #note({ host, port, method, addressClass, refused, ...event }: EgressEvent): void {
    const { trail, registered } = this.#call;
    // SECURITY: a server can redirect to a host whose name contains a secret that it was shown.
    const named = redactText(host, registered.tool.redactors ?? []);
    const where = { host: named, port, method, addressClass: addressClass ?? "" };
    if (refused === undefined) {
      const { sentBytes, receivedBytes, status } = event;
      const value = { ...where, bytesOut: BigInt(sentBytes), bytesIn: BigInt(receivedBytes), status: status ?? 0 };
      trail.add({ case: "egressRequested", value });
    } else trail.add({ case: "egressRefused", value: { ...where, reason: refused } });
  }
}

function toNetworkCapability({ host, port, sends }: EgressTarget): NetworkCapability {
  return { kind: sends ? "net_write" : "net_read", hosts: [{ host, ports: [port] }] };
}

/**
 * Whether the tool declares which hosts it contacts.
 *
 * SECURITY: such a tool may contact no other host, whatever the lease and the rules permit.
 */
function namesHosts(capabilities: readonly Capability[]): boolean {
  return capabilities.some(
    (right) => (right.kind === "net_read" || right.kind === "net_write") && right.hosts.length > 0,
  );
}

/** Whether a right is held; the right to send includes the right to read. */
function isHeld(held: PermittedCall["needed"], right: NetworkCapability): boolean {
  return isWithin([right], held) || (right.kind === "net_read" && isWithin([{ ...right, kind: "net_write" }], held));
}

function isEndpoint(endpoints: NetworkCapability["hosts"] | undefined, { host, port }: EgressTarget): boolean {
  return endpoints?.some((place) => place.host === host && (place.ports?.includes(port) ?? true)) ?? false;
}
