import type { TestContext } from "node:test";
import { KernelError } from "@narthex/contracts";
import type { EgressBounds, EgressEvent, EgressClient, EgressGrant, EgressTarget } from "@narthex/kernel";
import { createEgressGate, type EgressGateOptions } from "../create-egress-gate.ts";

export interface TestPass extends EgressGrant {
  readonly events: EgressEvent[];
  /** Targets that the pass was asked to admit, in order. */
  readonly asked: EgressTarget[];
  readonly charges: number[];
}

export interface TestPassOptions extends Partial<Pick<EgressGrant, "credentials" | "charge" | "admit">> {
  /** The only admitted hosts; all by default. */
  readonly hosts?: readonly string[];
  /** Whether requests may send; true by default. */
  readonly sends?: boolean;
  /** Overrides `granted`. */
  readonly isGranted?: (address: string, sends: boolean) => boolean;
  /** The only addresses that are granted although they are not public; by default that of the server. */
  readonly granted?: readonly string[];
  readonly bounds?: Partial<EgressBounds>;
}

const BOUNDS: EgressBounds = { maxRequests: 1000, maxBytes: 2 ** 31, maxBodyBytes: 2 ** 30 };

/** Creates a pass that records its calls. */
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
  /** Sends a request; GET by default. */
  ask(url: string, more?: Partial<Parameters<EgressClient["request"]>[0]>): ReturnType<EgressClient["request"]>;
}

/** Opens an egress client that closes when the test ends. */
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
