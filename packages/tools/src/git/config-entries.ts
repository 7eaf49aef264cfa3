import { KernelError } from "@narthex/contracts";

/** One value of git's configuration. */
export interface ConfigEntry {
  /** Where the value is set, in git's notation: `file:.git/config`. */
  readonly origin: string;
  readonly key: string;
  /** Undefined for a key without a value, which means true. */
  readonly value: string | undefined;
}

/** Maximum size of a configuration listing. */
export const MAX_LISTING_BYTES = 1024 * 1024;

/** Parses the output of `CONFIG_LISTING`, or returns why it cannot be parsed. */
export function readConfigEntries(listing: Uint8Array): readonly ConfigEntry[] | { readonly problem: string } {
  if (listing.length > MAX_LISTING_BYTES) return { problem: `configuration of more than ${MAX_LISTING_BYTES} bytes` };
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(listing);
  } catch {
    return { problem: "configuration that is not UTF-8" };
  }
  const fields = text.split("\0");
  // Each entry is an origin and a key with its value, and the last entry ends with a NUL too.
  if (fields.pop() !== "" || fields.length % 2 !== 0) return { problem: "configuration that could not be listed" };
  const entries: ConfigEntry[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const setting = fields[at + 1] ?? "";
    const end = setting.indexOf("\n");
    const [key, value] = end === -1 ? [setting, undefined] : [setting.slice(0, end), setting.slice(end + 1)];
    entries.push({ origin: fields[at] ?? "", key, value });
  }
  return entries;
}

/** The entries of a listing, without those that the kernel sets itself. */
export function readRepositoryConfig(listing: Uint8Array): readonly ConfigEntry[] {
  const entries = readConfigEntries(listing);
  if ("problem" in entries) throw new KernelError("EXECUTION_FAILED", `the repository has ${entries.problem}`);
  return entries.filter(({ origin }) => origin !== "command line:");
}
