import type { JsonObject } from "@narthex/contracts";
import {
  type Bounds,
  type Capability,
  type Effect,
  EFFECT_RIGHTS,
  boundsOf,
  type JsonReader,
  ownField,
  type ToolDeclaration,
  WASM_MEMORY_CEILING,
  WASM_PAGE_BYTES,
  WASM_PRESET_NAMES,
  WASM_PRESETS,
} from "@narthex/kernel";

/** How declarations of programs, endpoints and WebAssembly modules differ. */
export interface ToolKind extends Pick<ToolDeclaration, "source" | "isolation"> {
  /** Bounds by their names in a manifest. */
  readonly bounds: ReadonlyMap<string, keyof Bounds>;
  /** Effects that imply capabilities, so that the author must not name these. */
  readonly ownEffects: readonly (keyof typeof EFFECT_RIGHTS)[];
  readonly followsFrom: string;
  readEffects(reader: JsonReader, object: JsonObject, field: string): Effect[];
  /** The capabilities that the effects of a declaration imply. */
  rightsFor(effects: readonly Effect[]): Capability[];
  /** Reports problems with a capability that the author requests. */
  checkRight?(reader: JsonReader, right: Capability, field: string): void;
  /** Default bounds for those that the author left out. Problems with the given ones are reported to the reader. */
  boundsFor?(reader: JsonReader, object: JsonObject, given: Partial<Bounds>, field: string): Partial<Bounds>;
}

const BOUNDS: readonly (readonly [string, keyof Bounds])[] = [
  ["timeout_ms", "timeoutMs"],
  ["max_output_bytes", "maxOutputBytes"],
];
const PROGRAM_EFFECTS = ["fs_read", "fs_write", "process_spawn"] as const;
const NETWORK_EFFECTS = ["net_read", "net_write"] as const;

/** A program or a JavaScript module: its effects decide what its sandbox can access. */
export const PROGRAM_KIND: ToolKind = {
  source: "subprocess",
  isolation: "process",
  bounds: new Map([
    ...BOUNDS,
    ["max_memory_bytes", "maxMemoryBytes"],
    ["max_cpu_ms", "maxCpuMs"],
    ["max_network_bytes", "maxNetworkBytes"],
    ["max_network_requests", "maxNetworkRequests"],
  ]),
  ownEffects: PROGRAM_EFFECTS,
  followsFrom: "the effects",
  readEffects(reader, object, field) {
    const effects =
      reader.list(ownField(object, "effects"), field, 100, (item, itemField) =>
        reader.choice(item, itemField, [...PROGRAM_EFFECTS, ...NETWORK_EFFECTS]),
      ) ?? [];
    if (effects.includes("fs_write") && !effects.includes("fs_read")) {
      reader.refuse(field, "required", "must hold fs_read beside fs_write: who can write the workspace can read it");
    }
    return effects;
  },
  /** The workspace is accessible as a whole or not at all. */
  rightsFor: (effects) =>
    PROGRAM_EFFECTS.filter((effect) => effects.includes(effect)).map((effect) => EFFECT_RIGHTS[effect]),
  /** SECURITY: the user who adds the tool sees the hosts that it will connect to; it can connect to no others. */
  checkRight(reader, right, field) {
    if ((right.kind === "net_read" || right.kind === "net_write") && right.hosts.length === 0) {
      reader.refuse(field, "required", "must name the hosts that the program asks");
    }
  },
};

/** An endpoint: every call sends data, and the required capability covers exactly the host of the endpoint. */
export const ENDPOINT_KIND: ToolKind = {
  source: "http",
  isolation: "http",
  bounds: new Map([...BOUNDS, ["max_network_bytes", "maxNetworkBytes"]]),
  ownEffects: ["net_read", "net_write"],
  followsFrom: "the endpoint",
  readEffects(reader, object, field) {
    if (Object.hasOwn(object, "effects")) {
      reader.refuse(field, "exclusive", "follows from the endpoint, to which every call is sent: leave it out");
    }
    return ["net_write"];
  },
  rightsFor: () => [],
};

const WASM_EFFECTS = ["fs_read", "fs_write", "net_read", "net_write"] as const;

/** A WebAssembly module: its effects are the host calls that it may make, and a preset defines its resource limits. */
export const WASM_KIND: ToolKind = {
  source: "wasm",
  isolation: "wasm",
  bounds: new Map([
    ...BOUNDS,
    ["max_memory_bytes", "maxMemoryBytes"],
    ["max_fuel", "maxFuel"],
    ["max_network_requests", "maxNetworkRequests"],
    ["max_network_bytes", "maxNetworkBytes"],
  ]),
  // The author must name the hosts that the module connects to.
  ownEffects: ["fs_read", "fs_write"],
  followsFrom: "the effects",
  readEffects: (reader, object, field) =>
    reader.list(ownField(object, "effects"), field, 100, (item, itemField) =>
      reader.choice(item, itemField, WASM_EFFECTS),
    ) ?? [],
  rightsFor: (effects) =>
    (["fs_read", "fs_write"] as const).filter((effect) => effects.includes(effect)).map((one) => EFFECT_RIGHTS[one]),
  boundsFor(reader, object, given, field) {
    const name = Object.hasOwn(object, "preset")
      ? reader.choice(object["preset"], field.replace(/bounds$/, "preset"), WASM_PRESET_NAMES)
      : "standard";
    const { maxMemoryBytes = WASM_PAGE_BYTES } = given;
    if (maxMemoryBytes < WASM_PAGE_BYTES || maxMemoryBytes > WASM_MEMORY_CEILING) {
      const message = `must be a whole number from ${WASM_PAGE_BYTES} to ${WASM_MEMORY_CEILING} for a module`;
      reader.refuse(`${field}.max_memory_bytes`, "range", message);
    }
    return { ...boundsOf(WASM_PRESETS[name ?? "standard"]), ...given };
  },
};
