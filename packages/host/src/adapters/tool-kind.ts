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

/** What is declared differently of a program, an endpoint and a module. */
export interface ToolKind extends Pick<ToolDeclaration, "source" | "isolation"> {
  /** By their names in a manifest. */
  readonly bounds: ReadonlyMap<string, keyof Bounds>;
  /** Effects from which rights follow, so that nobody has to name them. */
  readonly ownEffects: readonly (keyof typeof EFFECT_RIGHTS)[];
  readonly followsFrom: string;
  readEffects(reader: JsonReader, object: JsonObject, field: string): Effect[];
  /** What a declaration has of the rights that follow. */
  rightsFor(effects: readonly Effect[]): Capability[];
  /** Notes what is wrong with a right that the author demands. */
  checkRight?(reader: JsonReader, right: Capability, field: string): void;
  /** What bounds are where the author gives none; whatever is wrong with those given is noted with the reader. */
  boundsFor?(reader: JsonReader, object: JsonObject, given: Partial<Bounds>, field: string): Partial<Bounds>;
}

const BOUNDS: readonly (readonly [string, keyof Bounds])[] = [
  ["timeout_ms", "timeoutMs"],
  ["max_output_bytes", "maxOutputBytes"],
];
const PROGRAM_EFFECTS = ["fs_read", "fs_write", "process_spawn"] as const;
const NETWORK_EFFECTS = ["net_read", "net_write"] as const;

/** A program, or a module: its effects are what its sandbox is opened for. */
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
  /** The workspace is there as a whole or not at all. */
  rightsFor: (effects) =>
    PROGRAM_EFFECTS.filter((effect) => effects.includes(effect)).map((effect) => EFFECT_RIGHTS[effect]),
  /** SECURITY: whoever adds it is shown whom it will speak with; it speaks with nobody else. */
  checkRight(reader, right, field) {
    if ((right.kind === "net_read" || right.kind === "net_write") && right.hosts.length === 0) {
      reader.refuse(field, "required", "must name the hosts that the program asks");
    }
  },
};

/** An endpoint: to ask it is to send, and the right to do so is a right to that very host. */
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

/** A module: its effects are the host calls that it may make, and a preset says what it may use. */
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
  // Which hosts it asks is for the author to say.
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
