import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { createLedgerWrites, testLedgerStoreContract } from "@narthex/testkit";
import { openSqliteStore } from "./sqlite-store.ts";

for (const isBrief of [false, true]) {
  testLedgerStoreContract(isBrief ? "the sqlite store of a brief program" : "the sqlite store", {
    persistent: true,
    createDriver: async () => {
      const home = await mkdtemp(join(tmpdir(), "narthex-store-"));
      return {
        open: () => openSqliteStore({ directory: join(home, "store"), isSingleThreaded: isBrief }),
        async openCopy(store) {
          const directory = join(home, "copy", "store");
          await mkdir(directory, { recursive: true, mode: 0o700 });
          await store.copyTo(join(directory, "records.db"));
          return openSqliteStore({ directory, isSingleThreaded: isBrief });
        },
        dispose: () => rm(home, { recursive: true }),
      };
    },
  });
}

it("answers rightly while the index and the log are being moved along under load", async () => {
  const directory = await mkdtemp(join(tmpdir(), "narthex-load-"));
  const store = await openSqliteStore({ directory });
  try {
    const write = createLedgerWrites();
    for (let round = 0; round < 6; round++) {
      const appends = Array.from({ length: 2000 }, (_, number) =>
        store.append(write({ chain: `c${number % 3}`, requestId: `r${number}`, padding: 800 })),
      );
      const during = await store.findRequest("c0", "r0");
      assert.ok(during === undefined || during % 2000 === 0);
      await Promise.all(appends);
      assert.equal(await store.findRequest("c0", "r0"), round * 2000);
      assert.equal(await store.findRequest("c0", "r1"), undefined);
      assert.equal((await store.chainHead("c1"))?.sequence, (round + 1) * 667 - 1);
    }
    assert.equal((await store.readRecords({ limit: 20_000 })).length, 12_000);
    assert.equal((await store.listRequestIds("c2", 20_000)).length, 666);
  } finally {
    await store.close();
    await rm(directory, { recursive: true });
  }
});
