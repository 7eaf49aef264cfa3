import type { TestContext } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, type EntrySchema, KernelError, RecordSchema, toBinary } from "@narthex/contracts";
import type {
  ListedApprovalRequest,
  ApprovalResolution,
  Kernel,
  Refusal,
  StandingApproval,
  StoredRecord,
  UnsafeWorkspace,
} from "@narthex/kernel";
import { openServiceDoor, type ServiceDoorOptions } from "../service/service-door.ts";
import { post } from "../service/test-door.ts";
import { createTestKernel } from "../test-kernel.ts";
import { type ConsoleOptions, createConsole } from "./console.ts";

/** The kernel methods that the console uses, backed by lists that a test fills. */
export function createTestBackend() {
  const kernel = createTestKernel();
  const open: ListedApprovalRequest[] = [];
  const standing: StandingApproval[] = [];
  const records: StoredRecord[] = [];
  const resolutions: ApprovalResolution[] = [];
  const refusals: Refusal[] = [];
  const unsafe: UnsafeWorkspace[] = [];
  let changed = Promise.withResolvers<void>();
  let watchers = 0;

  function change(): void {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  }

  async function* following<T>(signal: AbortSignal, next: () => T | undefined): AsyncGenerator<T> {
    watchers++;
    const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    try {
      while (!signal.aborted) {
        const waiting = changed.promise;
        const value = next();
        if (value !== undefined) yield value;
        else await Promise.race([waiting, gone]);
      }
    } finally {
      watchers--;
    }
  }

  const backend: Kernel = {
    ...kernel,
    refuse: (refusal) => void refusals.push(refusal),
    unsafeWorkspaces: () => unsafe,
    listApprovals: () => ({ open: [...open], standing: [...standing] }),
    async resolveApproval(resolution) {
      const at = open.findIndex(({ approvalId }) => approvalId === resolution.approvalId);
      if (at < 0) throw new KernelError("INTERNAL", "this question was answered already");
      resolutions.push(resolution);
      open.splice(at, 1);
      change();
      return { answer: resolution.answer, isAwaited: true, standing: undefined };
    },
    revokeApproval: () => Promise.reject(new KernelError("INTERNAL", "no such answer holds")),
    async *watchApprovals(signal) {
      let told = "";
      yield* following(signal, () => {
        const now = JSON.stringify([open, standing]);
        const isNew = now !== told;
        told = now;
        return isNew ? { open: [...open], standing: [...standing] } : undefined;
      });
    },
    recordCount: () => records.length,
    async *tailRecords({ fromIndex = records.length, signal }) {
      let next = fromIndex;
      yield* following(signal, () => {
        const record = records[next];
        if (record !== undefined) next++;
        return record;
      });
    },
    policyFacts: () => ({
      policyHash: new Uint8Array(32).fill(5),
      schemaHash: new Uint8Array(32),
      engine: "compiled/1",
      ruleCount: 12,
      problem: "",
      mode: "observe",
      directory: "/home/policy",
      warnings: [],
      fallback: "",
    }),
  };

  return {
    kernel: backend,
    standing,
    resolutions,
    refusals,
    unsafe,
    /** Number of sources that are being read right now. */
    watchers: () => watchers,
    addQuestion(question: Partial<ListedApprovalRequest> = {}) {
      open.push({ ...QUESTION, approvalId: `apr_${open.length}`, ...question });
      change();
    },
    addRecord(requestId: string, entries: MessageInitShape<typeof EntrySchema>[]) {
      const index = records.length;
      const record = create(RecordSchema, { index: BigInt(index), chain: "ses_a", requestId, wallTimeMs: 5n, entries });
      const stored = { index, chain: "ses_a", sequence: index, hash: new Uint8Array(32), content: new Uint8Array(0) };
      records.push({ ...stored, record: toBinary(RecordSchema, record) });
      change();
    },
  };
}

const QUESTION: ListedApprovalRequest = {
  approvalId: "apr_0",
  sessionId: "ses_aaaaaaaaaaaaaaaaaaaa",
  requestId: "r",
  tenant: "t",
  user: "alice",
  agent: "claude",
  workspace: "/workspace",
  tool: "shell_exec@1.0.0",
  definitionHash: "00",
  input: { command: "git push" },
  inputDigest: "00",
  policyHash: "00",
  ruleIds: ["ask-shell"],
  messages: ["commands are asked about"],
  always: [],
  notes: [],
  kind: "human",
  safetyTier: "privileged",
  effects: ["process_spawn"],
  labels: ["secret"],
  requestedAtMs: 1000,
  expiresAtMs: 2_000_000_000_000,
  sessionScope: "git push",
  isAwaited: true,
  ruleText: "permit(...);",
};

type OpenOptions = Partial<Omit<ConsoleOptions, "kernel">> & { readonly door?: Partial<ServiceDoorOptions> };

/** Opens a console on its own port, with a clock that moves only when told. */
export async function openTestConsole(t: TestContext, { door: doorOptions, ...options }: OpenOptions = {}) {
  const backend = createTestBackend();
  const clock = { nowMs: 1_000_000 };
  const page = await createConsole({
    kernel: backend.kernel,
    version: "1.2.3",
    defaultApprover: "operator",
    nowMs: () => clock.nowMs,
    ...options,
  });
  const { kernel } = backend;
  const listen = { host: "127.0.0.1", port: 0 };
  const createLink = (): string => `http://127.0.0.1/console/sign-in?code=${page.createCode()}`;
  const door = await openServiceDoor({
    kernel,
    listen,
    console: { page, createLink },
    authorize: async (token) =>
      token === "admin-token" ? { scope: "admin" } : token === "read-token" ? { scope: "read" } : undefined,
    verify: () => Promise.reject(new Error("not here")),
    ...doorOptions,
  });
  t.after(() => door.close());
  const port = "port" in door.address ? door.address.port : 0;
  const origin = `http://127.0.0.1:${port}`;

  function ask(name: string, body: object | string, headers: Record<string, string> = {}) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return post({ port }, { path: `/console/api/${name}`, headers: { origin, ...headers }, body: text });
  }

  async function signIn(name = ""): Promise<Record<string, string>> {
    const answer = await ask("sign-in", { code: page.createCode(), name }, { "x-narthex-console": "none" });
    const [cookie = ""] = String(answer.headers["set-cookie"]).split(";", 1);
    const { key } = JSON.parse(answer.body.toString()) as { readonly key: string };
    return { cookie, "x-narthex-console": key };
  }

  const get = (path: string, headers: Record<string, string> = {}) => post({ port }, { path, method: "GET", headers });
  return { ...backend, page, door, clock, port, origin, ask, get, signIn };
}

/** Yields the parsed lines of a live stream as they arrive. */
export async function* readEvents(body: AsyncIterable<unknown>): AsyncGenerator<Record<string, unknown>> {
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as Record<string, unknown>;
  }
}
