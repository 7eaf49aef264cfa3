import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import type { FoundEntry } from "../programs/held-directory.ts";
import { BoundedView } from "./bounded-view.ts";
import { findTrustedPaths } from "./find-trusted-paths.ts";
import { NameRules } from "./name-rules.ts";
import { NO_SOURCES } from "./trust-sources.ts";
import type { WorkspaceView } from "./workspace-view.ts";

const FACTS = { device: 1n, inode: 1n, mode: 0o755, links: 1 };
const DIRECTORY: FoundEntry = { ...FACTS, kind: "directory", target: undefined };

/** `.husky` has links, each to the first of a chain of links; the chain is that of all, or each has its own. */
function linkedWorkspace({ links, isShared }: { readonly links: number; readonly isShared: boolean }) {
  const looked: string[] = [];
  const names = Array.from({ length: links }, (_, at) => `h${at}`);
  const lookAt = (path: string): FoundEntry | undefined => {
    looked.push(path);
    if (path.endsWith(".husky")) return DIRECTORY;
    const [, base = "", hook] = /^(?:(.*)\/)?\.husky\/h(\d+)$/.exec(path) ?? [];
    if (hook !== undefined) return link(`/workspace/${isShared ? "" : `${base}${hook}-`}c0`);
    const [, owner = "", at] = /^(.*-)?c(\d+)$/.exec(path) ?? [];
    if (at !== undefined) return Number(at) < 35 ? link(`/workspace/${owner}c${Number(at) + 1}`) : undefined;
    return path.includes("/") ? undefined : DIRECTORY;
  };
  const view: WorkspaceView = {
    inspectAt: async (path) => lookAt(path),
    namesAt: async () => [".husky"],
    kindsAt: async () => new Map(names.map((name) => [name, "link"] as const)),
    readAt: async () => undefined,
    chunksAt: () => Readable.from([]),
  };
  const search = async (bases: readonly string[]) => {
    const rules = new NameRules([[".husky"]]);
    return await findTrustedPaths({
      view,
      workspace: "/w",
      bases,
      rules,
      git: undefined,
      findsShapes: false,
      ...NO_SOURCES,
    });
  };
  return { looked, search };
}

function link(target: string): FoundEntry {
  return { ...FACTS, kind: "link", target };
}

describe("a search of a workspace", () => {
  it("looks at each link of a chain once", async () => {
    const { looked, search } = linkedWorkspace({ links: 400, isShared: true });
    assert.ok((await search(["."])).paths.includes("c35"));
    assert.equal(looked.length, new Set(looked).size);
  });

  it("is refused where links lead through more others than can be looked at", async () => {
    const { search } = linkedWorkspace({ links: 400, isShared: false });
    assert.ok((await search(["."])).paths.includes("399-c35"));
    await assert.rejects(search(["a", "b", "d"]), { code: "RESOURCE_EXCEEDED" });
  });

  it("passes everything else on", async () => {
    const view: WorkspaceView = {
      inspectAt: async () => DIRECTORY,
      namesAt: async (path) => [path],
      kindsAt: async (path) => new Map([[path, "link"]]),
      readAt: async (path, maxBytes) => `${path} ${maxBytes}`,
      chunksAt: (path) => Readable.from([Buffer.from(path)]),
    };
    const bounded = new BoundedView(view);
    assert.deepEqual(await bounded.namesAt("a"), ["a"]);
    assert.deepEqual([...((await bounded.kindsAt("b")) ?? [])], [["b", "link"]]);
    assert.equal(await bounded.readAt("c", 3), "c 3");
    assert.deepEqual(await Array.fromAsync(bounded.chunksAt("d")), [Buffer.from("d")]);
  });
});
