/** Exports for the worker threads that store tiles. Kept small, so that the threads start fast. */
export type { TreeHead } from "./checkpoint-note.ts";
export { GrowingTree, type Tile } from "./growing-tree.ts";
export { locateSubtree, TILE_WIDTH, type TileAddress, tilePath } from "./tile.ts";
export { proveConsistency, proveInclusion } from "./tiled-proof.ts";
