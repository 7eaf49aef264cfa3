import { createMemoryContentStore, createMemoryStore, createTestKernel, type TestSession } from "@narthex/testkit";
import {
  type ContentItem,
  ContentPlace,
  type ContentRole,
  fromBinary,
  RecordContentSchema,
  toBinary,
} from "@narthex/contracts";
import { createRegistry } from "../../registry/registry.ts";
import type { Tool } from "../../tool/tool.ts";
import type { ReplayPorts } from "../replay-ports.ts";
import type { ReplayReport } from "../replay-report.ts";
import { replaySession } from "../replay-session.ts";
import type { ReplaySource } from "../replay-source.ts";
import { createStoreReplaySource } from "../store-replay-source.ts";

/** A kernel whose sessions can be replayed. */
export interface ReplayKernel {
  open(seed?: Uint8Array): Promise<TestSession>;
  readonly source: ReplaySource;
  replay(sessionId: string, changes?: Partial<ReplayPorts>, source?: ReplaySource): Promise<ReplayReport>;
}

export async function createReplayKernel(tools: readonly Tool[]): Promise<ReplayKernel> {
  const store = createMemoryStore();
  const contentStore = createMemoryContentStore();
  const { open } = await createTestKernel({ tools, store, contentStore });
  const source = createStoreReplaySource(store, contentStore);
  return {
    open: (seed = new Uint8Array(32).fill(7)) => open({ seed }),
    source,
    replay: (sessionId, changes = {}, from = source) =>
      replaySession(sessionId, from, { ...portsOf(tools), ...changes }),
  };
}

/** Ports that confirm every decision: reproducing decisions needs Cedar and is tested elsewhere. */
export function portsOf(tools: readonly Tool[]): ReplayPorts {
  const registry = createRegistry();
  for (const tool of tools) registry.register(tool);
  return {
    findTool: (name, version) => registry.resolve(name, version),
    openFiles: () => {
      throw new Error("no files here");
    },
    recheck: ({ proof }) => Promise.resolve({ kind: "made", proof, differences: [] }),
  };
}

/** The same source as if all content of one role were erased. */
export function erasing(source: ReplaySource, role: ContentRole): ReplaySource {
  const erase = (item: ContentItem): ContentItem =>
    item.role === role
      ? {
          ...item,
          place: ContentPlace.ERASED,
          digest: new Uint8Array(0),
          nonce: new Uint8Array(0),
          data: new Uint8Array(0),
        }
      : item;
  return {
    ...source,
    async *records(chain) {
      for await (const row of source.records(chain)) {
        const content = fromBinary(RecordContentSchema, row.content);
        content.items = content.items.map(erase);
        yield { ...row, content: toBinary(RecordContentSchema, content) };
      }
    },
  };
}
