import { DEFAULT_VIEW_BYTES, MAX_INLINE_RESULT_BYTES } from "@narthex/contracts";
import { BUDGET_DIMENSIONS, type BudgetDimension, SHELL_BACKENDS } from "@narthex/kernel";
import { DEFAULT_SECRET_PATHS } from "../files/secret-paths.ts";
import { SERVERS_SCHEMA } from "../mcp-servers/servers-schema.ts";
import { DEFAULT_NAMES } from "../trusted-paths/protected-names.ts";
import { INFERENCE_SCHEMA, NETWORK_SCHEMA, WEB_SEARCH_SCHEMA } from "../network/network-schema.ts";
import { DEFAULT_STORAGE_LIMITS } from "../storage/storage-limits.ts";
import { SECRET_NAME_PATTERN } from "../secrets/secret-source.ts";

export interface SectionSchema {
  readonly type: "object";
  readonly description: string;
  readonly additionalProperties: false;
  readonly properties: { readonly [key: string]: SettingSchema };
}

export interface IntegerSchema {
  readonly type: "integer";
  readonly description: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly default?: number;
}

export interface TextSchema {
  readonly type: "string";
  readonly description: string;
  readonly pattern: string;
  readonly default: string;
}

/** A section whose keys are names that users choose. */
export interface MapSchema {
  readonly type: "object";
  readonly description: string;
  readonly propertyNames: { readonly pattern: string };
  readonly maxProperties: number;
  readonly additionalProperties: SourceSchema;
}

/** An object with exactly one of the listed keys. */
export interface SourceSchema {
  readonly type: "object";
  readonly additionalProperties: false;
  readonly minProperties: 1;
  readonly maxProperties: 1;
  readonly properties: {
    readonly env: { readonly type: "string"; readonly pattern: string };
    readonly file: { readonly type: "string"; readonly pattern: string; readonly maxLength: number };
    readonly command: {
      readonly type: "array";
      readonly minItems: 1;
      readonly maxItems: number;
      readonly items: { readonly type: "string"; readonly pattern: string; readonly maxLength: number };
    };
  };
}

export interface EnumSchema {
  readonly type: "string";
  readonly description: string;
  readonly enum: readonly string[];
  readonly default: string;
}

export interface ListSchema {
  readonly type: "array";
  readonly description: string;
  readonly maxItems: number;
  readonly items: { readonly type: "string"; readonly pattern: string; readonly maxLength: number };
  readonly default: readonly string[];
}

export type SettingSchema =
  | SectionSchema
  | MapSchema
  | typeof SERVERS_SCHEMA
  | typeof NETWORK_SCHEMA
  | typeof WEB_SEARCH_SCHEMA
  | IntegerSchema
  | TextSchema
  | EnumSchema
  | ListSchema;

/** Whether the keys of this schema are settings with their own defaults. Other schemas are read as a whole. */
export function isSection(schema: SettingSchema): schema is SectionSchema {
  return schema.type === "object" && "properties" in schema && schema !== NETWORK_SCHEMA;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MB = 1024 * 1024;
const GB = 1024 * MB;

const PORT = "(?:0|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
/** One segment of a path: anything but `.` and `..`. */
const PART = "(?:[^/.\u0000][^/\u0000]*|\\.[^/.\u0000][^/\u0000]*|\\.\\.[^/\u0000]+)";
const BYTE = "(?:0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])";

const BUDGET_DESCRIPTIONS: { readonly [D in BudgetDimension]: string } = {
  calls: "Calls.",
  cost_units: "Cost units, as the tools price themselves.",
  inference_tokens: "Tokens of inference.",
  wall_ms: "Time that calls take.",
  cpu_ms: "Processor time that calls take.",
  network_bytes: "Bytes sent and received.",
  stored_bytes: "Bytes of content stored.",
};

/** Schema of `narthex.yaml`. Published as `narthex.schema.json`; a test keeps the two in sync. */
export const CONFIGURATION_SCHEMA: SectionSchema & { readonly $schema: string; readonly title: string } = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "narthex.yaml",
  ...section("Configuration of a Narthex kernel. Every key is optional.", {
    listen: {
      type: "string",
      description:
        "Where `serve` offers the services on TCP, as host:port; port 0 takes a free one. Loopback only: there is no TLS; put a proxy with TLS or an SSH tunnel in front of it to reach it from elsewhere.",
      pattern: `^(?:127(?:\\.${BYTE}){3}|\\[::1\\]|localhost):${PORT}$`,
      default: "127.0.0.1:7411",
    },
    session: section("Sessions opened without limits of their own.", {
      ttl_ms: integer("How long a session lives.", { minimum: 1, maximum: 365 * DAY_MS, default: 8 * HOUR_MS }),
      own_code: {
        type: "string",
        description:
          "What a command does where narthex itself is installed in a session's workspace. Its files are protected there either way.",
        enum: ["refuse", "allow"],
        default: "refuse",
      },
      quarantine: section("When a session that keeps breaking out of its containment is locked.", {
        violations: integer("So many containment violations ...", { minimum: 1, maximum: 1000, default: 5 }),
        window_ms: integer("... within so long.", { minimum: 1, maximum: DAY_MS, default: 60_000 }),
      }),
    }),
    budgets: section(
      "What one session may spend unless its lease says otherwise. Absent is unlimited, 0 is nothing.",
      Object.fromEntries(BUDGET_DIMENSIONS.map((dimension) => [dimension, budget(dimension)])),
    ),
    storage: section("What agents may take of the disks. Bounds of directories are polled while a program runs.", {
      session_bytes: integer("Content that one session stores, with all that are split off it.", {
        minimum: MB,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 2 * GB,
      }),
      scratch_bytes: integer("The scratch directory of one session; a program that exceeds it is ended.", {
        minimum: MB,
        maximum: Number.MAX_SAFE_INTEGER,
        default: DEFAULT_STORAGE_LIMITS.scratchBytes,
      }),
      cache_bytes: integer(
        "The home that programs of one workspace have: it is shrunk to this, and a program that doubles it is ended.",
        { minimum: MB, maximum: Number.MAX_SAFE_INTEGER, default: DEFAULT_STORAGE_LIMITS.cacheBytes },
      ),
      growth_bytes: integer("What one call may add to its workspace; a program that exceeds it is ended.", {
        minimum: MB,
        maximum: Number.MAX_SAFE_INTEGER,
        default: DEFAULT_STORAGE_LIMITS.growthBytes,
      }),
      reserve_bytes: integer(
        "What stays free on each disk, or less if `reserve_percent` is less: below it programs and writes are refused.",
        { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: DEFAULT_STORAGE_LIMITS.reserveBytes },
      ),
      reserve_percent: integer("The same as a part of the disk. 0 is no reserve.", {
        minimum: 0,
        maximum: 100,
        default: DEFAULT_STORAGE_LIMITS.reservePercent,
      }),
    }),
    timeouts: section("How long the kernel waits.", {
      approval_ms: integer("For a person's answer; then the call is denied.", {
        minimum: 1,
        maximum: 7 * DAY_MS,
        default: 600_000,
      }),
      approval_wait_ms: integer("Until a call that waits for a person answers APPROVAL_PENDING instead.", {
        minimum: 0,
        maximum: HOUR_MS,
        default: 45_000,
      }),
      shutdown_ms: integer("For calls that run when the kernel is told to stop.", {
        minimum: 0,
        maximum: HOUR_MS,
        default: 10_000,
      }),
      idle_ms: integer("Until a kernel that a client started ends, once its last client has left.", {
        minimum: 0,
        maximum: 7 * DAY_MS,
        default: 60_000,
      }),
    }),
    checkpoints: section("When a kernel that serves signs a checkpoint of its ledger; at most one a second.", {
      every_records: integer("After so many new records.", { minimum: 1, maximum: 30_000, default: 1000 }),
      every_ms: integer("After so long, if there are new records.", {
        minimum: 1000,
        maximum: DAY_MS,
        default: 60_000,
      }),
    }),
    retention: section("How long content is kept that no artifact and no open session needs.", {
      max_age_ms: integer("After its session ended.", {
        minimum: 0,
        maximum: 100 * 365 * DAY_MS,
        default: 14 * DAY_MS,
      }),
      max_bytes: integer("What sessions that have ended may keep in all; beyond it, the oldest goes first.", {
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 5 * 1024 * MB,
      }),
      every_ms: integer("How often a kernel that runs looks for it; 0 is never.", {
        minimum: 0,
        maximum: 7 * DAY_MS,
        default: 600_000,
      }),
    }),
    secrets: {
      type: "object",
      description:
        "Secrets by name, read when the kernel starts: from a variable, a file or what a command prints. A tool gets those that it was added with.",
      propertyNames: { pattern: SECRET_NAME_PATTERN },
      maxProperties: 100,
      additionalProperties: {
        type: "object",
        additionalProperties: false,
        minProperties: 1,
        maxProperties: 1,
        properties: {
          env: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]{0,255}$" },
          file: { type: "string", pattern: "^/[^\u0000]+$", maxLength: 4096 },
          command: {
            type: "array",
            minItems: 1,
            maxItems: 64,
            items: { type: "string", pattern: "^[^\u0000]+$", maxLength: 4096 },
          },
        },
      },
    },
    policy: section("How the rules of the policy directory are used.", {
      mode: {
        type: "string",
        description:
          "enforce: what rules refuse is denied. observe: a denial is recorded and the call goes on, and no approval is requested; errors of the policy and protected paths still deny. For a first week.",
        enum: ["enforce", "observe"],
        default: "enforce",
      },
    }),
    protected_paths: {
      type: "array",
      description:
        "Paths that agents change only by a rule for `write_protected`, in every directory of a workspace; `*` is any part of a name, `default` stands for the names that come with this version.",
      maxItems: 1000,
      items: { type: "string", pattern: `^${PART}(?:/${PART})*$`, maxLength: 1024 },
      default: [DEFAULT_NAMES],
    },
    secret_paths: {
      type: "array",
      description:
        "Files whose readers carry the label `secret`, in every directory of a workspace; `*` is any part of a name.",
      maxItems: 1000,
      items: { type: "string", pattern: `^${PART}(?:/${PART})*$`, maxLength: 1024 },
      default: DEFAULT_SECRET_PATHS,
    },
    vault: {
      type: "string",
      description:
        "The directory that only `vault_copyto` reads, as an absolute path outside every workspace. Empty: there is no vault.",
      pattern: `^(?:|(?:/${PART})+)$`,
      default: "",
    },
    limits: section("How much the doors take on.", {
      max_in_flight_bytes: integer("Requests and answers held at once, over all doors.", {
        minimum: MB,
        maximum: 65_536 * MB,
        default: 256 * MB,
      }),
      max_connections: integer("Connections of one door at once.", { minimum: 1, maximum: 65_535, default: 1024 }),
    }),
    shell: section("How shell commands are run.", {
      backend: {
        type: "string",
        description:
          "sandbox: each in a fresh sandbox. session: in one sandboxed shell per session, which keeps its directory and variables. disabled: not at all. host: bare on this machine, contained by nothing; everything it makes is labelled `host`.",
        enum: SHELL_BACKENDS,
        default: "sandbox",
      },
    }),
    mcp: section("How MCP clients are served.", {
      elicitation: {
        type: "string",
        description:
          "never: people answer elsewhere. approvals: a client that can ask its user is asked for approvals too, though the agent itself may answer there; rules that require the console are decided nowhere else.",
        enum: ["never", "approvals"],
        default: "never",
      },
      tools: {
        type: "string",
        description:
          "coding: read_file, echo, hash, artifact_get and artifact_publish are not listed, though they can be called. all: every tool that the session may call is listed.",
        enum: ["coding", "all"],
        default: "coding",
      },
    }),
    mcp_servers: SERVERS_SCHEMA,
    network: NETWORK_SCHEMA,
    web_search: WEB_SEARCH_SCHEMA,
    inference: INFERENCE_SCHEMA,
    view_bytes: integer("How much of a result a model is shown; the rest is paged.", {
      minimum: 64,
      maximum: MAX_INLINE_RESULT_BYTES,
      default: DEFAULT_VIEW_BYTES,
    }),
  }),
};

function section(description: string, properties: SectionSchema["properties"]): SectionSchema {
  return { type: "object", description, additionalProperties: false, properties };
}

function integer(
  description: string,
  range: { readonly minimum: number; readonly maximum: number; readonly default: number },
): IntegerSchema {
  return { type: "integer", description, ...range };
}

function budget(dimension: BudgetDimension): IntegerSchema {
  return {
    type: "integer",
    description: BUDGET_DESCRIPTIONS[dimension],
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
  };
}
