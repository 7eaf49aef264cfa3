import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { testStoreContract } from "@narthex/testkit";
import { openSqliteStore } from "./sqlite-store.ts";

testStoreContract("the sqlite store", {
  persistent: true,
  createDriver: async () => {
    const home = await mkdtemp(join(tmpdir(), "narthex-store-"));
    return {
      open: () => openSqliteStore({ directory: join(home, "store") }),
      dispose: () => rm(home, { recursive: true }),
    };
  },
});
