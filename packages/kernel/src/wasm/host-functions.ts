/** What a module can ask of its host, by the code it calls with. The numbers are part of the ABI. */
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

/** Undefined for a code that stands for nothing. Codes begin with 1. */
export function hostFunction(code: number): HostFunction | undefined {
  return HOST_FUNCTIONS[code - 1];
}
