import assert from "node:assert/strict";
import { type BudgetAmount, ContentPlace, fromBinary, RecordContentSchema, RecordSchema } from "@narthex/contracts";
import type { SocketKernel } from "../../doors/socket-kernel.ts";

const PAGE = 1000;

export interface Spending {
  /** By dimension, added up over the session's records. */
  readonly spent: ReadonlyMap<string, number>;
  /** How often the ledger says that a kernel started. */
  readonly starts: number;
}

/** What a chain of the ledger says was spent. Fails if two calls have one number. */
export async function readSpending(kernel: SocketKernel, chain: string): Promise<Spending> {
  const spent = new Map<string, number>();
  const reserved = new Map<string, readonly BudgetAmount[]>();
  const numbers = new Set<bigint | number>();
  let starts = 0;
  const add = (amounts: readonly { readonly dimension: string; readonly amount: bigint | number }[]): void => {
    for (const { dimension, amount } of amounts) spent.set(dimension, (spent.get(dimension) ?? 0) + Number(amount));
  };

  for await (const stored of recordsOf(kernel, chain)) {
    const { requestId, entries } = fromBinary(RecordSchema, stored.record);
    const has = (name: string): boolean => entries.some(({ kind }) => kind.case === name);
    // A call that did not start has spent what its input takes on the disk.
    if (has("toolInvoked") && !has("toolStarted")) add(filesIn(stored.content));
    for (const { kind } of entries) {
      switch (kind.case) {
        case "kernelStarted":
          starts++;
          break;
        case "toolStarted":
          assert.ok(!numbers.has(kind.value.callNumber), `call number ${kind.value.callNumber} of ${chain} twice`);
          numbers.add(kind.value.callNumber);
          reserved.set(requestId, kind.value.reserved);
          break;
        case "toolCompleted":
        case "toolFailed":
        case "toolTimedOut":
          add(kind.value.spent);
          break;
        case "outcomeSettled":
          // A settled call whose result was lost cost what it had set aside.
          if (kind.value.answer === "happened" && !has("toolCompleted")) add(reserved.get(requestId) ?? []);
          break;
        case "contentStored":
          add([{ dimension: "stored_bytes", amount: kind.value.size }]);
          break;
        default:
      }
    }
  }
  return { spent, starts };
}

type StoredRecord = NonNullable<Awaited<ReturnType<SocketKernel["readRecord"]>>>;

function filesIn(content: Uint8Array): { readonly dimension: string; readonly amount: bigint }[] {
  const files = fromBinary(RecordContentSchema, content).items.filter(({ place }) => place === ContentPlace.FILE);
  return files.map(({ size }) => ({ dimension: "stored_bytes", amount: size }));
}

async function* recordsOf(kernel: SocketKernel, chain: string): AsyncGenerator<StoredRecord> {
  for (let fromIndex = 0; ; ) {
    const page = await kernel.listRecords({ chain, fromIndex, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    fromIndex = last.index + 1;
  }
}
