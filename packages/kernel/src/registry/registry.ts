import { KernelError } from "@narthex/contracts";
import { printable } from "../schema/printable.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import { DECLARATION_CEILINGS } from "../tool/ceilings.ts";
import { definitionHash } from "../tool/definition-hash.ts";
import { checkDeclaration, inspectDeclaration, type InspectedDeclaration } from "../tool/inspect-declaration.ts";
import { compareSemver, isRelease, parseSemver, type Semver } from "../tool/semver.ts";
import type { Redactor, Tool } from "../tool/tool.ts";
import { isPortBound } from "../tool/port-bound-tools.ts";
import { isPrevalidated } from "../tool/prevalidated-tools.ts";
import { refuseUnknownParts } from "./refuse-unknown-parts.ts";
import { sealTool } from "./seal-tool.ts";

/** A tool with everything that calls need of it, prepared once. */
export interface RegisteredTool {
  /** `name@version`. */
  readonly id: string;
  /** Frozen. */
  readonly tool: Tool;
  readonly definitionHash: Uint8Array;
  /** The tool changes things only through the ports of its context. */
  readonly isPortBound: boolean;
  readonly inputSchema: CompiledSchema;
  /** Undefined if any output is valid: `json` without a schema, and bytes. */
  readonly outputSchema: CompiledSchema | undefined;
  readonly state: "ready" | "degraded" | "disabled" | "quarantined";
  /** For a quarantined tool: hash of the definition that was found instead of the registered one. */
  readonly foundHash: Uint8Array | undefined;
}

export interface Registry {
  /** Throws INVALID_DECLARATION with every problem, or ALREADY_REGISTERED. */
  register(tool: Tool): RegisteredTool;
  /** Prepares a tool without registering it. Throws INVALID_DECLARATION with every problem. */
  prepare(tool: Tool): RegisteredTool;
  /** Throws ALREADY_REGISTERED, or INVALID_DECLARATION if the registry is full. */
  requireRegistrable(registered: RegisteredTool): void;
  /** Registers a prepared tool. Throws as `requireRegistrable` does. */
  add(registered: RegisteredTool): void;
  /** Removes all versions of a tool. */
  remove(name: string): void;
  /**
   * Finds a tool; without a version its highest release, which is never a prerelease. Quarantined tools are found like
   * any other, so that a caller that wants the newest version never silently gets an older one.
   */
  resolve(name: string, version: string): RegisteredTool | undefined;
  /** Sorted by name, then by version; without `allVersions` only the highest release of each name. */
  list(options: { readonly allVersions: boolean }): RegisteredTool[];
  /** Throws TOOL_NOT_FOUND. */
  quarantine(name: string, version: string, foundHash: Uint8Array): RegisteredTool;
}

interface ToolVersions {
  readonly versions: Map<string, { readonly semver: Semver; registered: RegisteredTool }>;
  highest: string | undefined;
}

export function createRegistry(redactors: readonly Redactor[] = []): Registry {
  const families = new Map<string, ToolVersions>();
  let count = 0;

  function requirePlace({ id, tool }: RegisteredTool): Semver {
    const semver = parseSemver(tool.version);
    if (semver === undefined || families.get(tool.name)?.versions.has(tool.version) === true) {
      throw new KernelError("ALREADY_REGISTERED", `${id} is registered already: give it a higher version`);
    }
    if (count >= DECLARATION_CEILINGS.tools) {
      throw new KernelError("INVALID_DECLARATION", `a registry holds at most ${DECLARATION_CEILINGS.tools} tools`);
    }
    return semver;
  }

  function add(registered: RegisteredTool): void {
    const semver = requirePlace(registered);
    const { name, version } = registered.tool;
    const family: ToolVersions = families.get(name) ?? { versions: new Map(), highest: undefined };
    count++;
    family.versions.set(version, { semver, registered });
    const highest = family.highest === undefined ? undefined : family.versions.get(family.highest);
    if (isRelease(semver) && (highest === undefined || compareSemver(semver, highest.semver) > 0)) {
      family.highest = version;
    }
    families.set(name, family);
  }

  function remove(name: string): void {
    count -= families.get(name)?.versions.size ?? 0;
    families.delete(name);
  }

  function register(tool: Tool): RegisteredTool {
    const registered = prepare(tool, redactors);
    add(registered);
    return registered;
  }

  function resolve(name: string, version: string): RegisteredTool | undefined {
    const family = families.get(name);
    const wanted = version === "" ? family?.highest : version;
    return wanted === undefined ? undefined : family?.versions.get(wanted)?.registered;
  }

  function list(options: { readonly allVersions: boolean }): RegisteredTool[] {
    const names = [...families.keys()].sort();
    if (!options.allVersions) return names.map((name) => resolve(name, "")).filter((found) => found !== undefined);
    return names.flatMap((name) =>
      [...(families.get(name)?.versions.values() ?? [])]
        .sort((a, b) => compareSemver(a.semver, b.semver))
        .map(({ registered }) => registered),
    );
  }

  function quarantine(name: string, version: string, foundHash: Uint8Array): RegisteredTool {
    const entry = families.get(name)?.versions.get(version);
    if (entry === undefined) {
      throw new KernelError("TOOL_NOT_FOUND", `no tool \`${printable(name)}@${printable(version)}\` is registered`);
    }
    entry.registered = Object.freeze({ ...entry.registered, state: "quarantined" as const, foundHash });
    return entry.registered;
  }

  return {
    register,
    prepare: (tool) => prepare(tool, redactors),
    requireRegistrable: requirePlace,
    add,
    remove,
    resolve,
    list,
    quarantine,
  };
}

function prepare(original: Tool, redactors: readonly Redactor[]): RegisteredTool {
  const tool = copyOf(original, redactors);
  let inspected: InspectedDeclaration | undefined;
  const inspect = (): InspectedDeclaration => (inspected ??= inspectDeclaration(tool));
  if (!isPrevalidated(original)) inspect();
  return Object.freeze({
    id: `${tool.name}@${tool.version}`,
    tool,
    definitionHash: definitionHash(tool),
    isPortBound: isPortBound(original),
    get inputSchema() {
      return inspect().inputSchema;
    },
    get outputSchema() {
      return inspect().outputSchema;
    },
    state: "ready" as const,
    foundHash: undefined,
  });
}

/**
 * Copies the tool; only the copy is inspected further. If copying fails, the original is checked, so that the error
 * names its problems.
 */
function copyOf(original: Tool, redactors: readonly Redactor[]): Tool {
  if (!isPrevalidated(original)) refuseUnknownParts(original);
  try {
    return sealTool(original, redactors);
  } catch (fault) {
    checkDeclaration(original);
    throw fault;
  }
}
