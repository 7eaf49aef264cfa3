/** Programs that come with Narthex, for tools to run in their sandboxes. */
export type BundledProgram = "ripgrep" | "node";

/** Where each is inside; where it lies outside is the driver's to know. */
export const BUNDLED_PATHS: Readonly<Record<BundledProgram, string>> = {
  ripgrep: "/opt/ripgrep/bin/rg",
  node: "/opt/node/bin/node",
};
