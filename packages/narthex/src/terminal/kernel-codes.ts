/** A separate module, so that a bundle does not include all contracts for these two. */
export { findCode, isKernelError } from "@narthex/contracts";
