import { KernelError } from "@narthex/contracts";

/**
 * Normalizes a caller's path relative to the vault's root. No component may be empty, `.` or `..`. A leading `/` is the
 * vault's root.
 *
 * SECURITY: judges by the text alone. The vault's worker resolves links and reports where they lead.
 */
export function vaultPath(path: string): string {
  if (path.includes("\0") || path.split(/[/\\]/).includes("..")) {
    throw refused(path, "goes up with `..`, or has a NUL; name the path from the vault's root");
  }
  const kept = path.split("/").filter((part) => part !== "" && part !== ".");
  if (kept.length === 0) throw refused(path, "is the vault itself; name a file of it");
  return kept.join("/");
}

function refused(path: string, why: string): KernelError {
  const message = `\`${path.slice(0, 200).replaceAll("\0", "\u2400")}\` ${why}`;
  return new KernelError("INVALID_INPUT", message, {
    violations: [{ field: "$.source", rule: "no_traversal", message }],
  });
}
