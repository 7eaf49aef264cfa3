/** What threads need that keep tiles: little, so that they start as fast as without it. */
export type { TreeHead } from "./checkpoint-note.ts";
export { GrowingTree, type Tile } from "./growing-tree.ts";
export { locateSubtree, TILE_WIDTH, type TileAddress, tilePath } from "./tile.ts";
export { proveConsistency, proveInclusion } from "./tiled-proof.ts";
