import { createMemoryContentStore, createMemoryStore, createTestKernel, createTestRandom } from "@narthex/testkit";
import {
  type Bundle,
  type BundleFile,
  BundleFault,
  openBundle,
  verifyBundle,
  type VerifyReport,
} from "@narthex/verify";
import type { Store } from "../../ports.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { BundledTree } from "../bundled-tree.ts";
import { createStoreBundleSource } from "../store-bundle-source.ts";
import { writeBundle } from "../write-bundle.ts";

const say = defineTool({
  name: "say",
  description: "Says something, as long as it is told.",
  inputSchema: true,
  tier: "read_only",
  determinism: "pure",
  run: (input) => (typeof input === "number" ? "x".repeat(input) : input),
});
const secret = defineTool({
  name: "secret",
  description: "Says what nobody else may hear.",
  inputSchema: true,
  tier: "read_only",
  determinism: "pure",
  labels: ["secret"],
  run: () => "the combination is 1234",
});

export interface Exported {
  readonly store: Store;
  /** Ids of sessions: one with calls, one that read a secret, and one without calls. */
  readonly sessions: readonly [string, string, string];
  export(chain?: string, log?: BundledTree): Promise<Uint8Array>;
}

/** Creates three sessions whose records alternate, and bundles of them. */
export async function createExported(): Promise<Exported> {
  const store = createMemoryStore();
  const contentStore = createMemoryContentStore();
  const random = createTestRandom("bundle");
  const { open } = await createTestKernel({ tools: [say, secret], store, contentStore, random });
  const [one, other, idle] = [await open(), await open(), await open()];
  for (const input of ["a", 100_000, "b", 100_000, 5]) {
    await one.call("say", input);
    await other.call("secret", input);
    await other.call("say", "something secret");
  }
  return {
    store,
    sessions: [one.id, other.id, idle.id],
    async export(chain = "", log) {
      const parts: Uint8Array[] = [];
      for await (const part of writeBundle(createStoreBundleSource(store, contentStore, chain, log))) {
        parts.push(Buffer.from(part));
      }
      return Buffer.concat(parts);
    },
  };
}

/** Creates a file in memory that returns at most the bytes it has. */
export function fileOf(bytes: Uint8Array): BundleFile {
  return {
    size: bytes.length,
    read(offset, length) {
      if (offset < 0 || offset + length > bytes.length) throw new BundleFault("it ends too early");
      return Promise.resolve(Uint8Array.from(bytes.subarray(offset, offset + length)));
    },
  };
}

/** Reads a bundle: returns its report, or `unreadable` for bytes that are not a bundle. Throws any other error. */
export async function readBundle(bytes: Uint8Array): Promise<VerifyReport | "unreadable"> {
  let bundle: Bundle;
  try {
    bundle = await openBundle(fileOf(bytes));
  } catch (fault) {
    if (fault instanceof BundleFault) return "unreadable";
    throw fault;
  }
  return await verifyBundle(bundle);
}
