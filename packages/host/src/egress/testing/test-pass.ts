import type { TestContext } from "node:test";
import { KernelError } from "@narthex/contracts";
import type { EgressBounds, EgressEvent, EgressClient, EgressGrant, EgressTarget } from "@narthex/kernel";
import { createEgressGate, type EgressGateOptions } from "../create-egress-gate.ts";

export interface TestPass extends EgressGrant {
  readonly events: EgressEvent[];
  /** Whom it was asked about, in order. */
  readonly asked: EgressTarget[];
  readonly charges: number[];
}

export interface TestPassOptions extends Partial<Pick<EgressGrant, "credentials" | "charge" | "admit">> {
  /** All others are refused; by default nobody is. */
  readonly hosts?: readonly string[];
  /** Whether requests may send; they may by default. */
  readonly sends?: boolean;
  /** Instead of the list that follows. */
  readonly isGranted?: (address: string, sends: boolean) => boolean;
  /** These alone, of the addresses that are not public; the server's own by default. */
  readonly granted?: readonly string[];
  readonly bounds?: Partial<EgressBounds>;
}

const BOUNDS: EgressBounds = { maxRequests: 1000, maxBytes: 2 ** 31, maxBodyBytes: 2 ** 30 };

/** A pass that keeps what it was asked and told. */
export function testPass(options: TestPassOptions = {}): TestPass {
  const { hosts, sends = true, granted = ["127.0.0.1"], credentials = [] } = options;
  const events: EgressEvent[] = [];
  const asked: EgressTarget[] = [];
  const charges: number[] = [];
  return {
    events,
    asked,
    charges,
    credentials,
    bounds: { ...BOUNDS, ...options.bounds },
    admit(target) {
      asked.push(target);
      options.admit?.(target);
      if (hosts !== undefined && !hosts.includes(target.host))
        throw new KernelError("NETWORK_BLOCKED", "host: not this");
      if (target.sends && !sends) throw new KernelError("NETWORK_BLOCKED", "host: may not send");
    },
    isGranted: (address, _, mayBeSent) => options.isGranted?.(address, mayBeSent) ?? granted.includes(address),
    onEvent: (event) => void events.push(event),
    charge(bytes) {
      options.charge?.(bytes);
      charges.push(bytes);
    },
  };
}

export interface OpenedExit extends EgressClient {
  readonly pass: TestPass;
  /** GET, or what it is told. */
  ask(url: string, more?: Partial<Parameters<EgressClient["request"]>[0]>): ReturnType<EgressClient["request"]>;
}

/** An exit that ends with its test. */
export function openTestExit(
  t: TestContext,
  passOptions: TestPassOptions = {},
  gateOptions: EgressGateOptions = {},
): OpenedExit {
  const pass = testPass(passOptions);
  const gate = createEgressGate(gateOptions);
  const exit = gate.open(pass);
  t.after(() => gate.close());
  const forever = new AbortController().signal;
  return { ...exit, pass, ask: (url, more) => exit.request({ method: "GET", url, ...more }, forever) };
}

export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export async function sizeOf(body: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0;
  for await (const chunk of body) size += chunk.length;
  return size;
}
