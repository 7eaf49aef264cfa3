/** Options by which programs that mostly read write or delete files. */
const WRITERS: ReadonlyMap<string, RegExp> = new Map([
  ["find", /^-(?:delete|fprint|fprint0|fprintf|fls)$/],
  ["sed", /^-[^-]*i|^--i/],
  ["gsed", /^-[^-]*i|^--i/],
  ["sort", /^-[^-]*o|^--o/],
  ["base64", /^-[^-]*o|^--output/],
  ["tree", /^-o/],
  [
    "curl",
    /^-[^-]*[oOJTDc]|^--(?:output|remote-name|upload-file|dump-header|cookie-jar|trace|create-dirs|stderr|etag-save|hsts|alt-svc)/,
  ],
  ["wget", /^/],
  ["git", /^--out|^-o/],
  ["jq", /^-i|^--in-place/],
  ["yq", /^-[^-]*i|^--inplace/],
  ["diff", /^--output/],
  ["less", /^-[^-]*[oO]|^--log-file/i],
  ["rg", /^--generate/],
  ["nl", /^--output/],
  ["prettier", /^--write|^-w/],
  ["gofmt", /^-w/],
  ["xxd", /^-r/],
  ["date", /^-s|^--s/],
  ["hostname", /^[^-]/],
  ["dmesg", /^-[^-]*[cC]|^--(?:clear|read-clear)/],
  ["journalctl", /^--(?:vacuum|rotate|flush)/],
]);

/** `name` without its directories. A program that is made for writing is not asked about: its name says it. */
export function writesFiles(name: string, args: readonly string[]): boolean {
  const option = WRITERS.get(name);
  return option !== undefined && args.some((arg) => option.test(arg));
}
