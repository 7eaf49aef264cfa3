export { artifactGet, artifactPublish } from "./artifact/index.ts";
export { builtinTools } from "./builtin-tools.ts";
export { resultRead } from "./content/index.ts";
export { echo } from "./echo/index.ts";
export * from "./files/index.ts";
export * from "./git/index.ts";
export { hash } from "./hash/index.ts";
export * from "./shell/index.ts";
export { vaultCopyTo } from "./vault/index.ts";
