import { join } from "node:path";
import { rootFromInclusionPath } from "@narthex/kernel";
import { createTreeMethods, type TreeMethods } from "../../../packages/host/src/merkle/tree-methods.ts";
import { leafHash } from "../../../packages/kernel/src/merkle/tree-hash.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { ratioOf } from "../../harness/statistics.ts";
import { leafData, makeSyntheticTiles } from "./synthetic-tiles.ts";

const LARGE = 10_000_000;
const SMALL = 10_000;
const PROOFS = 400;
const MAX_RATIO = 3;

/** The time of an inclusion proof from tiles on the disk, of a large tree and a small one; every proof is checked. */
export const inclusionProofs: Measurement = async ({ rounds, scale, directory }) => {
  const large = openTree(join(directory, "large"), Math.max(SMALL * 10, Math.round(LARGE * scale)));
  const small = openTree(join(directory, "small"), SMALL);
  const count = Math.max(20, Math.round(PROOFS * scale));
  const times = await interleave(rounds, { large: () => large(count), small: () => small(count) });
  return {
    rows: [
      {
        what: "an inclusion proof at 10 million leaves",
        ours: { value: Math.min(...times.large), unit: "ms" },
        beside: { value: Math.min(...times.small), unit: "ms", name: "at 10 thousand leaves" },
        ratio: ratioOf(times.large, times.small),
        bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
        picture: "inclusion proof, 10 million beside 10 thousand",
      },
    ],
    raw: { "10 million leaves, ms": times.large, "10 thousand leaves, ms": times.small },
    notes: [
      "inclusion proofs: of random leaves of synthetic trees, whose leaves repeat every 65,536 and whose equal tiles are one file each",
    ],
  };
};

/** Gives the mean time of a proof, in ms. */
function openTree(directory: string, size: number): (count: number) => Promise<number> {
  makeSyntheticTiles(directory, size);
  const tree = createTreeMethods(directory, () => {
    throw new Error("a tile is missing");
  });
  let next = 1;
  return async (count) => {
    // The same random places in every run.
    const places = Array.from({ length: count }, () => (next = (next * 48_271) % 2_147_483_647) % size);
    const startedMs = performance.now();
    const paths: Uint8Array[][] = [];
    for (const place of places) paths.push(await pathOf(tree, place, size));
    const elapsedMs = performance.now() - startedMs;
    const roots = new Set(places.map((place, at) => rootOf(place, size, paths[at] ?? [])));
    if (roots.size !== 1) throw new Error("the proofs lead to different roots");
    return elapsedMs / count;
  };
}

async function pathOf(tree: TreeMethods, index: number, size: number): Promise<Uint8Array[]> {
  const answer = await tree.inclusionPath(index, size);
  if ("contradiction" in answer) throw new Error(answer.contradiction);
  return answer.value;
}

function rootOf(index: number, size: number, path: readonly Uint8Array[]): string {
  return Buffer.from(rootFromInclusionPath(leafHash(leafData(index)), index, size, path) ?? []).toString("hex");
}
