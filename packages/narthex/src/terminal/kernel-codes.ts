/** Loaded on its own, so that a bundle does not bring all contracts for these two. */
export { findCode, isKernelError } from "@narthex/contracts";
