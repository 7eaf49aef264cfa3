import { KernelError } from "@narthex/contracts";
import {
  BUDGET_DIMENSIONS,
  type BudgetLimits,
  type PolicyMode,
  SHELL_BACKENDS,
  type ShellBackend,
} from "@narthex/kernel";
import type { ServersSettings } from "../mcp-servers/server-settings.ts";
import {
  type InferenceSettings,
  type NetworkSettings,
  NO_NETWORK_SETTINGS,
  type SearchSettings,
} from "../network/network-settings.ts";
import type { StorageLimits } from "../storage/storage-limits.ts";
import type { SecretSources } from "../secrets/secret-source.ts";
import { DEFAULT_NAMES, DEFAULT_PROTECTED_PATHS } from "../trusted-paths/protected-names.ts";
import { CONFIGURATION_SCHEMA, isSection, type SettingSchema } from "./configuration-schema.ts";
import { type ListenAddress, parseListenAddress } from "./listen-address.ts";

/** Contents of `narthex.yaml`, with defaults for everything that it leaves out. */
export interface Configuration {
  /** Always a loopback address. */
  readonly listen: ListenAddress;
  readonly session: {
    readonly ttlMs: number;
    /** Whether a workspace may contain the code of the kernel that serves it. */
    readonly ownCode: "refuse" | "allow";
    readonly quarantine: { readonly violations: number; readonly windowMs: number };
  };
  /** A limit that is absent is unlimited. */
  readonly budgets: BudgetLimits;
  readonly storage: StorageLimits & { readonly sessionBytes: number };
  readonly timeouts: {
    readonly approvalMs: number;
    readonly approvalWaitMs: number;
    readonly shutdownMs: number;
    readonly idleMs: number;
  };
  readonly checkpoints: { readonly everyRecords: number; readonly everyMs: number };
  readonly retention: { readonly maxAgeMs: number; readonly maxBytes: number; readonly everyMs: number };
  /** Where secrets are found. The values are read only where they are needed. */
  readonly secrets: SecretSources;
  readonly limits: {
    readonly maxInFlightBytes: number;
    readonly maxConnections: number;
  };
  readonly shell: { readonly backend: ShellBackend };
  readonly policy: { readonly mode: PolicyMode };
  /** Whether MCP clients are asked for approvals, and which tools they see in the list. */
  readonly mcp: { readonly elicitation: "never" | "approvals"; readonly tools: "coding" | "all" };
  /** MCP servers whose tools can be given to sessions. */
  readonly mcpServers: ServersSettings;
  readonly network: NetworkSettings;
  readonly webSearch: readonly SearchSettings[];
  readonly inference: readonly InferenceSettings[];
  /** Paths that agents must not change. */
  readonly protectedPaths: readonly string[];
  /** Files whose content is treated as secret. */
  readonly secretPaths: readonly string[];
  /** Directory that only `vault_copyto` reads. */
  readonly vault: string | undefined;
  readonly viewBytes: number;
}

/** Valid values by path, such as `session.ttl_ms`. */
export type Settings = ReadonlyMap<string, Setting>;

type Setting = string | number | readonly string[];

/** Sections that are not made of single values. */
export interface Sections {
  readonly secrets: SecretSources;
  readonly mcpServers: ServersSettings;
  readonly network: NetworkSettings;
  readonly webSearch: readonly SearchSettings[];
  readonly inference: readonly InferenceSettings[];
}

export const NO_SECTIONS: Sections = {
  secrets: new Map(),
  mcpServers: new Map(),
  network: NO_NETWORK_SETTINGS,
  webSearch: [],
  inference: [],
};

export const DEFAULT_CONFIGURATION: Configuration = createConfiguration(new Map());

export function createConfiguration(settings: Settings, sections: Sections = NO_SECTIONS): Configuration {
  const number = (path: string): number => requireNumber(path, settings.get(path) ?? defaultOf(path));
  return Object.freeze({
    listen: Object.freeze(requireListen(settings.get("listen") ?? defaultOf("listen"))),
    session: Object.freeze({
      ttlMs: number("session.ttl_ms"),
      ownCode: (settings.get("session.own_code") ?? defaultOf("session.own_code")) === "allow" ? "allow" : "refuse",
      quarantine: Object.freeze({
        violations: number("session.quarantine.violations"),
        windowMs: number("session.quarantine.window_ms"),
      }),
    }),
    budgets: Object.freeze(
      Object.fromEntries(
        BUDGET_DIMENSIONS.flatMap((dimension) => {
          const limit = settings.get(`budgets.${dimension}`);
          return limit === undefined ? [] : [[dimension, requireNumber(dimension, limit)]];
        }),
      ),
    ),
    storage: Object.freeze({
      sessionBytes: number("storage.session_bytes"),
      scratchBytes: number("storage.scratch_bytes"),
      cacheBytes: number("storage.cache_bytes"),
      growthBytes: number("storage.growth_bytes"),
      reserveBytes: number("storage.reserve_bytes"),
      reservePercent: number("storage.reserve_percent"),
    }),
    timeouts: Object.freeze({
      approvalMs: number("timeouts.approval_ms"),
      approvalWaitMs: number("timeouts.approval_wait_ms"),
      shutdownMs: number("timeouts.shutdown_ms"),
      idleMs: number("timeouts.idle_ms"),
    }),
    checkpoints: Object.freeze({
      everyRecords: number("checkpoints.every_records"),
      everyMs: number("checkpoints.every_ms"),
    }),
    retention: Object.freeze({
      maxAgeMs: number("retention.max_age_ms"),
      maxBytes: number("retention.max_bytes"),
      everyMs: number("retention.every_ms"),
    }),
    ...sections,
    limits: Object.freeze({
      maxInFlightBytes: number("limits.max_in_flight_bytes"),
      maxConnections: number("limits.max_connections"),
    }),
    policy: Object.freeze({
      mode: (settings.get("policy.mode") ?? defaultOf("policy.mode")) === "observe" ? "observe" : "enforce",
    }),
    mcp: Object.freeze({
      elicitation: settings.get("mcp.elicitation") === "approvals" ? "approvals" : "never",
      tools: settings.get("mcp.tools") === "all" ? "all" : "coding",
    }),
    shell: Object.freeze({ backend: requireBackend(settings.get("shell.backend") ?? defaultOf("shell.backend")) }),
    protectedPaths: withDefaultNames(requireList(settings.get("protected_paths") ?? defaultOf("protected_paths"))),
    secretPaths: requireList(settings.get("secret_paths") ?? defaultOf("secret_paths")),
    vault: String(settings.get("vault") ?? defaultOf("vault")) || undefined,
    viewBytes: number("view_bytes"),
  });
}

function defaultOf(path: string): Setting | undefined {
  let schema: SettingSchema | undefined = CONFIGURATION_SCHEMA;
  for (const key of path.split(".")) {
    schema = schema !== undefined && isSection(schema) ? schema.properties[key] : undefined;
  }
  return schema === undefined || schema.type === "object" ? undefined : schema.default;
}

function requireNumber(path: string, value: Setting | undefined): number {
  if (typeof value !== "number") throw new KernelError("INTERNAL", `the setting \`${path}\` has no number`);
  return value;
}

function requireList(value: Setting | undefined): readonly string[] {
  if (typeof value !== "object") throw new KernelError("INTERNAL", "a setting has no list");
  return Object.freeze([...value]);
}

/** Replaces `default` in the list by the names that come with this version. */
function withDefaultNames(paths: readonly string[]): readonly string[] {
  return Object.freeze([
    ...new Set(paths.flatMap((path) => (path === DEFAULT_NAMES ? DEFAULT_PROTECTED_PATHS : [path]))),
  ]);
}

function requireListen(value: Setting | undefined): ListenAddress {
  const address = parseListenAddress(String(value));
  if ("problem" in address) throw new KernelError("INTERNAL", `the setting \`listen\` ${address.problem}`);
  return address;
}

function requireBackend(value: Setting | undefined): ShellBackend {
  const backend = SHELL_BACKENDS.find((known) => known === value);
  if (backend === undefined) throw new KernelError("INTERNAL", "the setting `shell.backend` has no known value");
  return backend;
}
