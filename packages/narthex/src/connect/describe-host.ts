import type { HostReport, ToolchainKind } from "@narthex/host";

/** Mechanisms that people know by another name. */
const KNOWN_AS: ReadonlyMap<string, string> = new Map([
  ["bubblewrap", "bwrap"],
  ["system calls filtered", "seccomp"],
  ["process limits", "rlimits"],
  ["control groups", "cgroups"],
]);

/** Kinds of toolchains whose names mean nothing to people; `narthex doctor` lists them. */
const NAMELESS: ReadonlySet<ToolchainKind> = new Set(["file", "other"]);

/** Describes in one line what this host enforces and which toolchains it has. */
export function describeHost({ level, mechanisms, toolchains }: HostReport): string {
  if (level === "L2") return "L2: nothing is contained here, so no program is run; see `narthex doctor --fix`";
  const holding = mechanisms.filter(({ state }) => state === "holds");
  const lacking = mechanisms.filter((mechanism) => !holding.includes(mechanism)).map(({ name }) => name);
  const names = holding.map(({ name }) => KNOWN_AS.get(name)).filter((name) => name !== undefined);
  const usable = toolchains
    .filter(({ unusable, directories }) => unusable === undefined && directories.length > 0)
    .filter(({ kind }) => !NAMELESS.has(kind))
    .map(({ kind, version }) => [kind, shortVersion(kind, version)].filter((part) => part !== "").join(" "));
  const found = usable.length === 0 ? "those of the system" : [...new Set(usable)].join(", ");
  const checks = `${holding.length} of ${mechanisms.length} checks${lacking.length === 0 ? "" : ` (not: ${lacking.join(", ")})`}`;
  return `${level} (${names.join(", ")}), ${checks}; toolchains: ${found}`;
}

/** Shortens a version to major and minor for Python, and to the major version otherwise. */
function shortVersion(kind: ToolchainKind, version: string | undefined): string {
  const numbers = /^v?(\d+)(\.\d+)?/.exec(version ?? "");
  return `${numbers?.[1] ?? ""}${kind === "python" || kind === "pyenv" ? (numbers?.[2] ?? "") : ""}`;
}
