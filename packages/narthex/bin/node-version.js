export const OLDEST_NODE_MAJOR = 24;

/** Whether this very process runs on a Node that runs Narthex. */
export function isNodeNewEnough() {
  return Number.parseInt(process.versions.node, 10) >= OLDEST_NODE_MAJOR;
}
