/** Functions of the host that a module can call, in the order of their codes. The numbers are part of the ABI. */
export const HOST_FUNCTIONS = [
  "log",
  "clock",
  "random",
  "has_capability",
  "fs_read",
  "fs_write",
  "fetch",
  "content_get",
  "content_put",
] as const;
export type HostFunction = (typeof HOST_FUNCTIONS)[number];

/** Undefined for an unknown code. Codes start at 1. */
export function hostFunction(code: number): HostFunction | undefined {
  return HOST_FUNCTIONS[code - 1];
}
