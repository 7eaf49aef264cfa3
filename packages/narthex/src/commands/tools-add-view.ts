import { type JsonObject, toHex } from "@narthex/contracts";
import {
  addedToolId,
  type CandidateTool,
  listPinnedFiles,
  isEndpoint,
  isProgram,
  isWasm,
  type storeTool,
} from "@narthex/host";
import { definitionHash, type Tool } from "@narthex/kernel";
import { renderFacts } from "../terminal/table.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatBytes } from "../terminal/units.ts";
import { visible } from "../terminal/visible.ts";

/** An added tool and whether it is new, replaced an earlier one, or was already there. */
export interface AddedView {
  readonly tool: CandidateTool;
  /** The tool as the registry will describe it. */
  readonly described: Tool;
  readonly state: Awaited<ReturnType<typeof storeTool>>;
}

/** Converts an added tool for scripts. */
export function addedToJson({ tool, described, state }: AddedView, rule: string, policyFile: string): JsonObject {
  const { declaration, pin } = tool;
  return {
    tool: addedToolId(tool),
    state,
    source: pin.kind,
    effects: [...declaration.effects],
    hosts: hostsOf(tool),
    tier: declaration.tier,
    determinism: declaration.determinism,
    labels: [...(declaration.labels ?? [])],
    ...(isEndpoint(tool) && { endpoint: tool.pin.url }),
    files: listPinnedFiles(tool).map(({ path, size, hash }) => ({ path, size, hash })),
    secrets: Object.fromEntries(secretsOf(tool)),
    program_hash: described.program?.hash ?? "",
    definition_hash: toHex(definitionHash(described)),
    rule,
    policy_file: policyFile,
  };
}

const STATES: Readonly<Record<AddedView["state"], string>> = {
  added: "added",
  replaced: "replaced",
  unchanged: "is there already, unchanged:",
};

/** Prints an added tool for people. */
export function showAdded(
  { tool, described, state }: AddedView,
  policy: { readonly rule: string; readonly file: string; readonly allowed: boolean },
  terminal: Terminal,
): void {
  const { declaration } = tool;
  const secrets = secretsOf(tool).map(([place, name]) => `${name} as ${place}`);
  terminal.print(
    visible(`${STATES[state]} ${addedToolId(tool)}`),
    ...renderFacts([
      ["effects", declaration.effects.join(", ") || "none: no files, no network, no second process"],
      ...hostFacts(tool),
      ["safety tier", declaration.tier],
      ["determinism", declaration.determinism],
      ...(declaration.labels?.length ? [["labels its results", declaration.labels.join(", ")] as const] : []),
      ...implementationFacts(tool),
      ...(secrets.length > 0 ? [["secrets", secrets.join(", ")] as const] : []),
      ["program hash", described.program?.hash ?? ""],
    ]),
  );
  if (policy.allowed) terminal.print(visible(`permitted by ${policy.file}`));
  else {
    const { paint } = terminal;
    const isQuiet = declaration.tier === "read_only" && declaration.effects.length === 0;
    const need = isQuiet
      ? "the default policy permits read-only tools without effects; where it was changed, this rule does:"
      : "it needs a rule of its own; write this into the policy directory, or use --allow:";
    terminal.print("", paint.dim(need));
    terminal.print(...policy.rule.trimEnd().split("\n").map(visible));
  }
}

/** The hosts that the tool connects to. */
function hostFacts(tool: CandidateTool): (readonly [string, string])[] {
  const hosts = hostsOf(tool);
  return hosts.length === 0 ? [] : [["hosts", hosts.join(", ")]];
}

function hostsOf({ declaration }: CandidateTool): string[] {
  const places = declaration.capabilities.flatMap((right) =>
    right.kind === "net_read" || right.kind === "net_write"
      ? right.hosts.map(({ host, ports }) => (ports === undefined ? host : `${host}:${ports.join(",")}`))
      : [],
  );
  return [...new Set(places)];
}

function implementationFacts(tool: CandidateTool): (readonly [string, string])[] {
  if (isProgram(tool)) {
    return [["program", tool.pin.files.map(({ path, size }) => `${path} (${formatBytes(size)})`).join(", ")]];
  }
  if (isWasm(tool)) {
    const { maxFuel = 0, maxMemoryBytes = 0, timeoutMs = 0 } = tool.declaration.bounds;
    return [
      ["module", `${tool.pin.module.path} (${formatBytes(tool.pin.module.size)})`],
      ["may use", `${maxFuel} fuel, ${formatBytes(maxMemoryBytes)}, ${timeoutMs} ms`],
    ];
  }
  if (!isEndpoint(tool)) return [];
  const { url, isIdempotent } = tool.pin;
  return [["endpoint", isIdempotent ? `${url}, which keeps to the idempotency key` : url]];
}

/** Where each secret is put, and its name: a program's variable, or a header. */
function secretsOf(tool: CandidateTool): (readonly [string, string])[] {
  if (isProgram(tool)) return [...tool.pin.secrets];
  if (!isEndpoint(tool) || tool.pin.key === undefined) return [];
  const { header = "authorization", secret } = tool.pin.key;
  return [[header, secret]];
}
