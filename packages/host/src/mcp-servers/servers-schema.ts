import { MAX_TIMEOUT_MS } from "@narthex/contracts";
import type { SafetyTier } from "@narthex/kernel";
import { SECRET_NAME_PATTERN } from "../secrets/secret-source.ts";

/** As much of JSON Schema as settings that nest need. */
export type ShapedSchema = RecordShape | NamedShape | ListShape | TextShape | WordShape | NumberShape;

export interface RecordShape {
  readonly type: "object";
  readonly additionalProperties: false;
  readonly required?: readonly string[];
  readonly properties: { readonly [key: string]: ShapedSchema };
}

/** Keys are names that people choose. */
export interface NamedShape {
  readonly type: "object";
  readonly propertyNames: { readonly pattern: string; readonly not?: { readonly pattern: string } };
  readonly maxProperties: number;
  readonly additionalProperties: ShapedSchema;
}

export interface ListShape {
  readonly type: "array";
  readonly minItems?: number;
  readonly maxItems: number;
  readonly items: ShapedSchema;
}

export interface TextShape {
  readonly type: "string";
  readonly pattern: string;
  readonly maxLength: number;
}

export interface WordShape {
  readonly type: "string";
  readonly enum: readonly string[];
}

export interface NumberShape {
  readonly type: "integer";
  readonly minimum: number;
  readonly maximum: number;
}

/** INVARIANT: without `_`, so that the first `__` in a tool's name ends its server's. */
const SERVER_NAME_PATTERN = "^[a-z][a-z0-9]{0,31}$";

/** What a server's tools can be said to do: there is no network for it, and its files are the workspace's. */
const SERVER_EFFECTS = ["net_read", "net_write", "fs_read", "fs_write", "process_spawn"] as const;

const TIERS: readonly SafetyTier[] = ["read_only", "side_effecting", "privileged"];
const WORD: TextShape = { type: "string", pattern: "^[^\u0000]+$", maxLength: 4096 };
const VARIABLE = {
  pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$",
  // What the sandbox sets itself, and what would change how a program is loaded.
  not: {
    pattern:
      "^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|LANG|TZ|TERM|LD_.*|GLIBC_TUNABLES|MALLOC_.*|GCONV_PATH|LOCPATH|NLSPATH|GETCONF_DIR|OPENSSL_.*|NARTHEX_.*|NODE_OPTIONS|BASH_ENV)$",
  },
};
/** A part of a path: anything but `.` and `..`. */
const PART = "(?:[^/.\u0000][^/\u0000]*|\\.[^/.\u0000][^/\u0000]*|\\.\\.[^/\u0000]+)";

const STANDING: RecordShape["properties"] = {
  tier: { type: "string", enum: TIERS },
  effects: { type: "array", maxItems: 16, items: { type: "string", enum: SERVER_EFFECTS } },
  timeout_ms: { type: "integer", minimum: 1, maximum: MAX_TIMEOUT_MS },
};

/** One server. */
const SERVER: RecordShape = {
  type: "object",
  additionalProperties: false,
  required: ["command"],
  properties: {
    command: { type: "array", minItems: 1, maxItems: 64, items: WORD },
    env: {
      type: "object",
      propertyNames: VARIABLE,
      maxProperties: 64,
      additionalProperties: { type: "string", pattern: "^[^\u0000]*$", maxLength: 4096 },
    },
    secrets: {
      type: "object",
      propertyNames: VARIABLE,
      maxProperties: 16,
      additionalProperties: { type: "string", pattern: SECRET_NAME_PATTERN, maxLength: 64 },
    },
    files: {
      type: "array",
      maxItems: 64,
      items: { type: "string", pattern: `^(?:/${PART})+$`, maxLength: 4096 },
    },
    workspace: { type: "string", enum: ["none", "read", "write"] },
    ...STANDING,
    tools: {
      type: "object",
      propertyNames: { pattern: "^[^\u0000]{1,128}$" },
      maxProperties: 256,
      additionalProperties: { type: "object", additionalProperties: false, properties: STANDING },
    },
  },
};

/** The section `mcp_servers`. */
export const SERVERS_SCHEMA = {
  type: "object",
  description:
    "MCP servers whose tools sessions can be given, by name: programs in a sandbox without network, which find nothing but what is named here. Their tools are called NAME__TOOL.",
  propertyNames: { pattern: SERVER_NAME_PATTERN },
  maxProperties: 32,
  additionalProperties: SERVER,
} as const satisfies NamedShape & { readonly description: string };
