import { ContentPlace, fromBinary, RecordContentSchema, toHex } from "@narthex/contracts";
import { defineTool, type KernelSession, type NarthexKernel } from "narthex";
import type { LedgerRow, LedgerSource } from "@narthex/verify";
import type { Chance } from "../chance/chance.ts";
import { withKernel } from "../kernel/with-kernel.ts";

/** Everything that a kernel wrote, taken into memory so that it can be changed. */
export interface RealLedger {
  readonly rows: readonly LedgerRow[];
  /** Content files by the hex of their hash. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const SESSIONS = 3;
const LARGE_TEXT = "large ".repeat(15_000);

const TOOLS = [
  defineTool({
    name: "fails",
    description: "Fails.",
    inputSchema: true,
    tier: "read_only",
    run: () => Promise.reject(new Error("no")),
  }),
  defineTool({ name: "asks", description: "Needs a yes.", inputSchema: true, tier: "read_only", run: () => "asked" }),
  defineTool({
    name: "strict",
    description: "Takes a number.",
    inputSchema: { type: "number" },
    tier: "read_only",
    run: () => "taken",
  }),
];
const RULES = `
@id("fails") permit(principal, action == Action::"fails", resource);
@id("strict") permit(principal, action == Action::"strict", resource);
@id("asks") @approve("always") permit(principal, action == Action::"asks", resource);`;

/** A kernel works for several sessions at once, in every way that leaves records. */
export async function makeRealLedger(chance: Chance, calls: number): Promise<RealLedger> {
  const approver = {
    door: "callback",
    ask: async () => ({ approved: chance.oneIn(2), approver: "ada" }),
  };
  const options = { tools: TOOLS, policies: [{ name: "chain.cedar", text: RULES }], approver };
  return withKernel(options, async ({ kernel, workspace }) => {
    const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => kernel.session({ workspace })));
    const held = await Promise.all(
      sessions.map(async (session) => ({ session, put: await putContent(kernel, session) })),
    );
    let underWay: Promise<unknown>[] = [];
    for (let number = 0; number < calls; number++) {
      const { session, put } = chance.pick(held);
      underWay.push(callSomething(chance, session, number, put));
      if (!chance.oneIn(3)) continue;
      await Promise.all(underWay);
      underWay = [];
    }
    await Promise.all(underWay);
    await sessions[0]?.close();
    return copyLedger(kernel.ledgerSource());
  });
}

async function putContent(kernel: NarthexKernel, session: KernelSession): Promise<string> {
  const chunks = (async function* () {
    yield Buffer.alloc(70_000, 1);
  })();
  const { hash } = await kernel.putContent({ sessionId: session.id, door: "campaign", labels: ["untrusted"], chunks });
  return toHex(hash);
}

function callSomething(chance: Chance, session: KernelSession, number: number, put: string): Promise<unknown> {
  // Few ids: some calls are repeats, and some are refused because their id stands for another.
  const requestId = `call-${chance.below(number + 3)}`;
  switch (chance.below(11)) {
    case 0:
      return session.call("hash", { data: "narthex" }, { requestId });
    case 1:
      return session.call("fails", number, { requestId });
    case 2:
      return session.call("asks", number, { requestId });
    case 3:
      return session.call("strict", "not a number", { requestId });
    case 4:
      return session.call("no_such_tool", {}, { requestId });
    case 5:
      return session.call("echo", LARGE_TEXT, { requestId });
    case 6:
      return session.call(
        "artifact_publish",
        { artifact_id: `a${chance.below(5)}`, content_hash: put, category: "text" },
        { requestId },
      );
    case 7:
      return session.call("artifact_get", { artifact_id: `a${chance.below(5)}` }, { requestId });
    case 8:
      return session.call("echo", { repeated: 1 }, { requestId: "the same", dedupeKey: "key" });
    default:
      return session.call("echo", { number, text: "hello" }, { requestId });
  }
}

async function copyLedger(source: LedgerSource): Promise<RealLedger> {
  const rows: LedgerRow[] = [];
  const files = new Map<string, Uint8Array>();
  for await (const row of source.records()) {
    const { index, chain, sequence } = row;
    const [hash, record, content] = [row.hash, row.record, row.content].map((bytes) => Uint8Array.from(bytes));
    if (hash === undefined || record === undefined || content === undefined) throw new TypeError("a row has no bytes");
    rows.push({ index, chain, sequence, hash, record, content });
    for (const { place, digest } of fromBinary(RecordContentSchema, row.content).items) {
      if (place !== ContentPlace.FILE && place !== ContentPlace.ELSEWHERE) continue;
      const bytes = await readWhole(source, digest);
      if (bytes !== undefined) files.set(toHex(digest), bytes);
    }
  }
  return { rows, files };
}

async function readWhole(source: LedgerSource, digest: Uint8Array): Promise<Uint8Array | undefined> {
  const file = await source.readFile(digest);
  if (file === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of file) chunks.push(chunk);
  // Not a Buffer, whose `slice` is no copy.
  return Uint8Array.from(Buffer.concat(chunks));
}

/** The same, changed or not, as the verifier reads it. */
export function sourceOf({ rows, files }: RealLedger): LedgerSource {
  return {
    async *records() {
      yield* rows;
    },
    readFile(digest) {
      const bytes = files.get(toHex(digest));
      return bytes && oneChunk(bytes);
    },
  };
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
