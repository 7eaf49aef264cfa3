export const OLDEST_NODE_MAJOR = 24;

/** Whether the Node that runs this process is new enough to run Narthex. */
export function isNodeNewEnough() {
  return Number.parseInt(process.versions.node, 10) >= OLDEST_NODE_MAJOR;
}
