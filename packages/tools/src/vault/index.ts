export { vaultCopyTo } from "./vault-copyto.ts";
