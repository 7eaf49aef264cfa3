import {
  blake3,
  create,
  createToken,
  decode,
  isKernelError,
  KernelError,
  type ToolRequest,
  type ToolResponse,
  ToolResponseSchema,
  validate,
  type Violation,
} from "@narthex/contracts";
import type { Kernel, PolicyFacts, Refusal, SessionFacts, StoredRecord, ToolFacts, WireCall } from "@narthex/kernel";

/** A kernel for tests of doors: it checks a token, echoes the input and remembers its calls. */
export interface TestKernel extends Kernel {
  readonly token: string;
  readonly sessionId: string;
  readonly calls: WireCall[];
  readonly refusals: Refusal[];
  readonly stored: Map<string, Uint8Array>;
  readonly records: StoredRecord[];
  closing: boolean;
  /** Ends the calls of the tool `wait`, which otherwise end when they are aborted. */
  release(): void;
  waiting: number;
}

const SESSION_ID = `ses_${"a".repeat(20)}`;

export function createTestKernel(): TestKernel {
  const token = createToken(SESSION_ID, (length) => new Uint8Array(length).fill(7));
  let release: () => void = () => undefined;
  let released = new Promise<void>((resolve) => (release = resolve));
  const notUsed = (): never => {
    throw new KernelError("INTERNAL", "not in this test kernel");
  };

  const kernel: TestKernel = {
    token,
    sessionId: SESSION_ID,
    calls: [],
    refusals: [],
    stored: new Map(),
    records: [],
    closing: false,
    waiting: 0,
    release() {
      release();
      released = new Promise<void>((resolve) => (release = resolve));
    },

    async call(call) {
      kernel.calls.push(call);
      let request: ToolRequest;
      try {
        request = call.request instanceof Uint8Array ? decode(call.request) : call.request;
      } catch (fault) {
        if (!isKernelError(fault)) throw fault;
        kernel.refuse({ door: call.door, reason: "malformed" });
        return failed("", "INVALID_REQUEST", fault.violations);
      }
      const violations = validate(request);
      if (violations.length > 0) return failed(request.requestId, "INVALID_REQUEST", violations);
      if (request.sessionToken !== token) return denied(request.requestId);
      return await run(request, call);
    },

    authenticate(given) {
      if (given === token) return Promise.resolve(sessionFacts());
      return Promise.reject(new KernelError("SESSION_UNKNOWN", "no session has this token"));
    },
    refuse: (refusal) => void kernel.refusals.push(refusal),

    listTools: () => [echoFacts],
    registerTool: () => Promise.resolve(echoFacts),
    unregisterTool: notUsed,
    examineHost: () => Promise.resolve({ level: "", envelope: "" }),
    unsafeWorkspaces: () => [],
    announce: () => Promise.resolve(),
    openSession: (options) => Promise.resolve({ session: sessionFacts(options.workspace), token }),
    closeSession: () => Promise.resolve(sessionFacts()),
    getSession: (id) => Promise.resolve(id === SESSION_ID ? sessionFacts() : undefined),
    listSessions: () => Promise.resolve([sessionFacts()]),
    delegateLease: notUsed,
    releaseLease: notUsed,
    getLease: notUsed,
    revokeLease: notUsed,
    policyFacts: () => POLICY,
    recordHookDecision: () => Promise.resolve(),
    changePolicy: () => Promise.resolve({ policy: POLICY, changed: false }),
    reloadPolicy(by) {
      if (by !== "") return Promise.resolve({ policy: POLICY, changed: true });
      const violations = [{ field: "p.cedar:1:2", rule: "malformed", message: "unexpected token" }];
      return Promise.reject(new KernelError("POLICY_INVALID", "p.cedar:1:2: unexpected token", { violations }));
    },
    explainCall: notUsed,

    async putContent({ chunks, labels }) {
      const parts: Uint8Array[] = [];
      for await (const chunk of chunks) parts.push(Buffer.from(chunk));
      const bytes = Buffer.concat(parts);
      const hash = blake3(bytes);
      kernel.stored.set(Buffer.from(hash).toString("hex"), bytes);
      return { hash, size: bytes.length, labels };
    },
    getContent: (_, hash, offset, limit) => kernel.readAnyContent(hash, offset, limit),
    async readAnyContent(hash, offset, limit) {
      const bytes = kernel.stored.get(Buffer.from(hash).toString("hex"));
      if (bytes === undefined) throw new KernelError("CONTENT_NOT_FOUND", "no such content");
      const slice = bytes.subarray(offset, Math.min(bytes.length, offset + limit));
      return { hash, size: bytes.length, labels: ["untrusted"], chunks: inOneChunk(slice) };
    },
    grantContent: notUsed,
    statContent: (hash) => {
      const bytes = kernel.stored.get(Buffer.from(hash).toString("hex"));
      return Promise.resolve(bytes === undefined ? undefined : { size: bytes.length, place: "row", holders: [] });
    },

    readRecord: (index) => Promise.resolve(kernel.records[index]),
    findCall: () => Promise.resolve(kernel.records[0]),
    listRecords: ({ limit }) => Promise.resolve(kernel.records.slice(0, limit)),
    recordCount: () => kernel.records.length,
    async *tailRecords({ signal }) {
      yield* kernel.records;
      await aborted(signal);
    },
    signCheckpoint: notUsed,
    getCheckpoint: notUsed,
    rotateLogKey: notUsed,
    proveRecord: notUsed,
    proveConsistency: notUsed,
    listWorkspaceLabels: () => Promise.resolve([]),
    clearWorkspaceLabels: notUsed,
    listApprovals: () => ({ open: [], standing: [] }),
    resolveApproval: notUsed,
    declineApproval: notUsed,
    revokeApproval: notUsed,
    watchApprovals: notUsed,
    openApprovalDoor: () => () => undefined,
    onLeaseEnded: () => () => undefined,
    listIntents: () => Promise.resolve([]),
    settleIntent: () => Promise.resolve({ recordIndex: 5 }),
    undo: () => Promise.resolve([]),
    erase: () => Promise.resolve({ items: 2, records: 1, bytes: 9, files: 0, recordIndexes: [7], heldByOthers: 0 }),
    collect: () => Promise.resolve({ sessions: 1, items: 3, bytes: 9, files: 1, keptBytes: 4, more: false }),
    backUp: ({ directory }) =>
      Promise.resolve({ directory, records: 3, headHash: "ab".repeat(32), files: 1, bytes: 9 }),
    withErasurePaused: (work) => work(),
    callInProcess: notUsed,
    close: () => Promise.resolve(),
  };

  async function run(request: ToolRequest, { signal, onChunk }: WireCall): Promise<ToolResponse> {
    const { requestId, tool } = request;
    if (tool.case !== "call") return succeeded(requestId, new TextEncoder().encode(`"${tool.case}"`));
    const { name, input } = tool.value;
    if (name === "wait") {
      kernel.waiting++;
      await Promise.race([released, signal === undefined ? released : aborted(signal)]);
      kernel.waiting--;
      if (signal?.aborted) return failed(requestId, "CANCELLED", []);
    }
    if (name === "stream") {
      for (let i = 0; i < 3; i++) await onChunk?.(new TextEncoder().encode(`chunk ${i}\n`));
    }
    return succeeded(requestId, input);
  }

  return kernel;
}

const POLICY: PolicyFacts = {
  policyHash: new Uint8Array(32).fill(1),
  schemaHash: new Uint8Array(32).fill(2),
  engine: "test/1",
  ruleCount: 3,
  problem: "",
  mode: "enforce",
  directory: "/policy",
  fallback: "",
  warnings: [],
};

function sessionFacts(workspace = "/workspace"): SessionFacts {
  const rights = { toolPatterns: ["*"], capabilities: [], highestTier: "privileged" } as const;
  const leaseId = `lea_${"b".repeat(20)}`;
  return {
    session: {
      id: SESSION_ID,
      tenant: "t",
      user: "u",
      agent: "a",
      workspace,
      workingDirectory: workspace,
      leaseId,
      parentSessionId: undefined,
      seed: new Uint8Array(32),
      tokenHash: new Uint8Array(32),
      openedAtMs: 1,
      expiresAtMs: 2,
      state: "open",
      calls: 3,
      labels: ["secret"],
      level: "",
    },
    lease: {
      id: leaseId,
      parentId: undefined,
      holder: SESSION_ID,
      ...rights,
      budgets: {},
      notBeforeMs: 0,
      expiresAtMs: 2,
      delegable: rights,
      revoked: false,
    },
    budgetRemaining: { calls: 10 },
  };
}

const echoFacts: ToolFacts = {
  declaration: {
    name: "echo",
    version: "1.0.0",
    description: "Gives its input back",
    source: "embedder",
    isolation: "inline",
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
    outputSchema: { type: "object" },
    resultType: "object",
    normalise: "json",
    effects: [],
    determinism: "pure",
    tier: "read_only",
    capabilities: [],
    bounds: { timeoutMs: 30_000, maxOutputBytes: 16_384 },
    price: 1,
  },
  definitionHash: new Uint8Array(32).fill(9),
  state: "ready",
  reason: "",
  viewBytes: 16_384,
  anyCase: [],
};

function succeeded(requestId: string, result: Uint8Array): ToolResponse {
  return create(ToolResponseSchema, {
    requestId,
    result: {
      case: "success",
      value: {
        resultHash: blake3(result),
        inlineResult: result,
        budgetConsumed: 1n,
        view: Buffer.from(result).toString().slice(0, 100),
        tool: "echo@1.0.0",
        resultType: "object",
        resultSize: BigInt(result.length),
      },
    },
  });
}

function denied(requestId: string): ToolResponse {
  const value = { ruleId: "kernel:admit", rationaleCode: "SESSION_UNKNOWN", message: "no session has this token" };
  return create(ToolResponseSchema, { requestId, result: { case: "denied", value } });
}

function failed(requestId: string, errorCode: string, violations: readonly Violation[]): ToolResponse {
  const value = { errorCode, message: "it failed", violations: violations.map((violation) => ({ ...violation })) };
  return create(ToolResponseSchema, { requestId, result: { case: "error", value } });
}

async function* inOneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
