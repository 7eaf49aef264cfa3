import { KernelError } from "@narthex/contracts";
import { BUDGET_DIMENSIONS, type BudgetLimits } from "@narthex/kernel";
import { CONFIGURATION_SCHEMA, type SettingSchema } from "./configuration-schema.ts";
import { type ListenAddress, parseListenAddress } from "./listen-address.ts";

/** What `narthex.yaml` says, with a default for all that it does not. */
export interface Configuration {
  /** Loopback, always. */
  readonly listen: ListenAddress;
  readonly session: {
    readonly ttlMs: number;
    readonly quarantine: { readonly violations: number; readonly windowMs: number };
  };
  /** Absent is unlimited. */
  readonly budgets: BudgetLimits;
  readonly timeouts: {
    readonly approvalMs: number;
    readonly approvalWaitMs: number;
    readonly shutdownMs: number;
  };
  readonly limits: {
    readonly maxInFlightBytes: number;
    readonly maxConnections: number;
  };
  readonly viewBytes: number;
}

/** Values by their path, such as `session.ttl_ms`. They keep the schema. */
export type Settings = ReadonlyMap<string, string | number>;

export const DEFAULT_CONFIGURATION: Configuration = createConfiguration(new Map());

export function createConfiguration(settings: Settings): Configuration {
  const number = (path: string): number => requireNumber(path, settings.get(path) ?? defaultOf(path));
  return Object.freeze({
    listen: Object.freeze(requireListen(settings.get("listen") ?? defaultOf("listen"))),
    session: Object.freeze({
      ttlMs: number("session.ttl_ms"),
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
    timeouts: Object.freeze({
      approvalMs: number("timeouts.approval_ms"),
      approvalWaitMs: number("timeouts.approval_wait_ms"),
      shutdownMs: number("timeouts.shutdown_ms"),
    }),
    limits: Object.freeze({
      maxInFlightBytes: number("limits.max_in_flight_bytes"),
      maxConnections: number("limits.max_connections"),
    }),
    viewBytes: number("view_bytes"),
  });
}

function defaultOf(path: string): string | number | undefined {
  let schema: SettingSchema | undefined = CONFIGURATION_SCHEMA;
  for (const key of path.split(".")) schema = schema?.type === "object" ? schema.properties[key] : undefined;
  return schema === undefined || schema.type === "object" ? undefined : schema.default;
}

function requireNumber(path: string, value: string | number | undefined): number {
  if (typeof value !== "number") throw new KernelError("INTERNAL", `the setting \`${path}\` has no number`);
  return value;
}

function requireListen(value: string | number | undefined): ListenAddress {
  const address = parseListenAddress(String(value));
  if ("problem" in address) throw new KernelError("INTERNAL", `the setting \`listen\` ${address.problem}`);
  return address;
}
