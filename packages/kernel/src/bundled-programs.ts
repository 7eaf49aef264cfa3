/** Programs that are shipped with Narthex, for tools to run in their sandboxes. */
export type BundledProgram = "ripgrep" | "node";

/** Path of each program inside the sandbox; the driver knows its path on the host. */
export const BUNDLED_PATHS: Readonly<Record<BundledProgram, string>> = {
  ripgrep: "/opt/ripgrep/bin/rg",
  node: "/opt/node/bin/node",
};
