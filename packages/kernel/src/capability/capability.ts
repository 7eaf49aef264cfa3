/** A capability is one typed right. Scopes are compared structurally, never as strings. */

/** An absolute path of the workspace's file tree, by component; the empty list is the root of the file system. */
export interface PathCapability {
  readonly kind: "fs_read" | "fs_write";
  /** Absolute prefixes with `/`, without `.`/`..`; an empty list asks for some path. */
  readonly prefixes: readonly string[];
}

export interface NetworkCapability {
  readonly kind: "net_read" | "net_write";
  readonly hosts: readonly HostPattern[];
}

export interface HostPattern {
  /** `example.com`, `*.example.com` (subdomains, not the apex), `*`, or a literal address. */
  readonly host: string;
  /** If absent, every port. */
  readonly ports?: readonly number[];
}

/** A right to named things of one kind. */
export interface NamesCapability {
  readonly kind: "db_read" | "db_write" | "exec" | "git" | "artifact" | "env_read" | "mcp";
  /** Tables, programs, operations, categories, variables or servers; exact names, or `*` for all. */
  readonly names: readonly string[];
}

export interface VaultCapability {
  readonly kind: "vault";
  /** Vault paths, by component. */
  readonly prefixes: readonly string[];
}

export interface InferenceCapability {
  readonly kind: "inference";
  readonly models: readonly { readonly provider: string; readonly model: string }[];
}

export interface WasmCapability {
  readonly kind: "wasm_exec";
  readonly maxFuel: number;
  readonly maxMemoryBytes: number;
}

export interface ClockCapability {
  readonly kind: "clock";
}

export type Capability =
  | PathCapability
  | NetworkCapability
  | NamesCapability
  | VaultCapability
  | InferenceCapability
  | WasmCapability
  | ClockCapability;

export type CapabilityKind = Capability["kind"];
