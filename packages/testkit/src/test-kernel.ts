import { createHash } from "node:crypto";
import { fromBinary, type RecordMessage, RecordSchema } from "@narthex/contracts";
import {
  type CallResult,
  type Clock,
  type InProcessCall,
  type Kernel,
  type KernelOptions,
  type OpenSessionOptions,
  type Random,
  startKernel,
  type Tool,
} from "@narthex/kernel";
import { createMemoryContentStore } from "./memory-content-store.ts";
import { createMemoryStore, type MemoryStore } from "./memory-store.ts";
import { permitAll } from "./test-policy.ts";

export interface TestKernel {
  readonly kernel: Kernel;
  readonly store: MemoryStore;
  readonly clock: TestClock;
  /** Opens a session; the call function is bound to its token. */
  open(options?: Partial<OpenSessionOptions>): Promise<TestSession>;
  records(chain?: string): Promise<RecordMessage[]>;
}

export interface TestSession {
  readonly id: string;
  readonly token: string;
  call(tool: string, input: InProcessCall["input"], options?: Partial<InProcessCall>): Promise<CallResult>;
}

/** A clock that moves only when a test moves it. */
export interface TestClock extends Clock {
  advance(ms: number): void;
  /** Moves the wall clock back, as an administrator may. */
  setBack(ms: number): void;
}

/** A kernel on stores in memory; every tool is permitted unless a policy is given. */
export async function createTestKernel(
  options: Partial<KernelOptions> & { readonly tools: readonly Tool[]; readonly store?: MemoryStore },
): Promise<TestKernel> {
  const store = options.store ?? createMemoryStore();
  const clock = createTestClock();
  const kernel = await startKernel({
    contentStore: createMemoryContentStore(),
    clock,
    random: createTestRandom("kernel"),
    policy: options.policy ?? permitAll(options.tools),
    version: "test",
    ...options,
    store,
  });
  return {
    kernel,
    store,
    clock,
    async open(session = {}) {
      const { session: facts, token } = await kernel.openSession({ workspace: "/workspace", ...session });
      return {
        id: facts.session.id,
        token,
        call: (tool, input, call = {}) => kernel.callInProcess({ token, tool, input, ...call }),
      };
    },
    async records(chain) {
      const stored = await kernel.listRecords({ limit: 10_000, ...(chain !== undefined && { chain }) });
      return stored.map((record) => fromBinary(RecordSchema, record.record));
    },
  };
}

export function createTestClock(startMs = 1_800_000_000_000): TestClock {
  let elapsedMs = 0;
  let setBackMs = 0;
  return {
    nowMs: () => startMs + elapsedMs - setBackMs,
    monotonicMs: () => performance.now() + elapsedMs,
    advance(ms) {
      elapsedMs += ms;
    },
    setBack(ms) {
      setBackMs += ms;
    },
  };
}

/** Reproducible bytes, only for tests. */
export function createTestRandom(seed: string): Random {
  let counter = 0;
  return {
    bytes(length) {
      const bytes = new Uint8Array(length);
      for (let at = 0; at < length; at += 32) {
        bytes.set(
          createHash("sha256")
            .update(`${seed}/${counter++}`)
            .digest()
            .subarray(0, Math.min(32, length - at)),
          at,
        );
      }
      return bytes;
    },
  };
}
