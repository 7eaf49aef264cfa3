import { KernelError } from "@narthex/contracts";

/**
 * A caller's path, relative to the vault's root: no part empty, `.` or `..`. A `/` at its beginning is the vault's root.
 *
 * SECURITY: by its text alone. Where links lead is for the vault's worker to find out, and to report.
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
