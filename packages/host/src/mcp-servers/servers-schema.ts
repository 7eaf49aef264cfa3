import { MAX_TIMEOUT_MS } from "@narthex/contracts";
import type { SafetyTier } from "@narthex/kernel";
import { SECRET_NAME_PATTERN } from "../secrets/secret-source.ts";

/** The part of JSON Schema that nested settings need. */
export type ShapedSchema = ObjectShape | ConditionalShape | MapShape | ListShape | TextShape | EnumShape | NumberShape;

export interface ObjectShape {
  readonly type: "object";
  readonly additionalProperties: false;
  readonly required?: readonly string[];
  readonly properties: { readonly [key: string]: ShapedSchema };
}

/** One object if a key is present, another one if it is absent. */
export interface ConditionalShape {
  readonly type: "object";
  readonly if: { readonly required: readonly [string] };
  readonly then: ObjectShape;
  readonly else: ObjectShape;
}

/** Keys are names that users choose. */
export interface MapShape {
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

export interface EnumShape {
  readonly type: "string";
  readonly enum: readonly string[];
}

export interface NumberShape {
  readonly type: "integer";
  readonly minimum: number;
  readonly maximum: number;
}

/** INVARIANT: without `_`, so that the first `__` in a tool's name ends the name of its server. */
const SERVER_NAME_PATTERN = "^[a-z][a-z0-9]{0,31}$";

/**
 * Effects that tools of a local server can declare. A program has no network here, and its files are those of the
 * workspace.
 */
const PROGRAM_EFFECTS = ["net_read", "net_write", "fs_read", "fs_write", "process_spawn"] as const;
/** Every tool of a remote server has at least one of these effects. */
const REMOTE_EFFECTS = ["net_read", "net_write"] as const;

const TIERS: readonly SafetyTier[] = ["read_only", "side_effecting", "privileged"];
const WORD: TextShape = { type: "string", pattern: "^[^\u0000]+$", maxLength: 4096 };
const VARIABLE = {
  pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$",
  // Variables that the sandbox sets, and variables that would change how a program is loaded.
  not: {
    pattern:
      "^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|LANG|TZ|TERM|LD_.*|GLIBC_TUNABLES|MALLOC_.*|GCONV_PATH|LOCPATH|NLSPATH|GETCONF_DIR|OPENSSL_.*|NARTHEX_.*|NODE_OPTIONS|BASH_ENV)$",
  },
};
/** One segment of a path: anything but `.` and `..`. */
const PART = "(?:[^/.\u0000][^/\u0000]*|\\.[^/.\u0000][^/\u0000]*|\\.\\.[^/\u0000]+)";

function profileProperties(effects: ListShape): ObjectShape["properties"] {
  return {
    tier: { type: "string", enum: TIERS },
    effects,
    timeout_ms: { type: "integer", minimum: 1, maximum: MAX_TIMEOUT_MS },
  };
}

/** Profile settings for all tools, and for single tools by name. */
function allProfileProperties(effects: ListShape): ObjectShape["properties"] {
  return {
    ...profileProperties(effects),
    tools: {
      type: "object",
      propertyNames: { pattern: "^[^\u0000]{1,128}$" },
      maxProperties: 256,
      additionalProperties: { type: "object", additionalProperties: false, properties: profileProperties(effects) },
    },
  };
}

const SECRET: TextShape = { type: "string", pattern: SECRET_NAME_PATTERN, maxLength: 64 };

/** A local server. */
const PROGRAM: ObjectShape = {
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
      additionalProperties: SECRET,
    },
    files: {
      type: "array",
      maxItems: 64,
      items: { type: "string", pattern: `^(?:/${PART})+$`, maxLength: 4096 },
    },
    workspace: { type: "string", enum: ["none", "read", "write"] },
    ...allProfileProperties({ type: "array", maxItems: 16, items: { type: "string", enum: PROGRAM_EFFECTS } }),
  },
};

/** A remote server, called over HTTP. */
const REMOTE: ObjectShape = {
  type: "object",
  additionalProperties: false,
  required: ["url"],
  properties: {
    url: { type: "string", pattern: "^https?://[^\\s#\\\\]+$", maxLength: 2048 },
    secret: SECRET,
    ...allProfileProperties({
      type: "array",
      minItems: 1,
      maxItems: 16,
      items: { type: "string", enum: REMOTE_EFFECTS },
    }),
  },
};

const SERVER: ConditionalShape = { type: "object", if: { required: ["url"] }, then: REMOTE, else: PROGRAM };

/** The section `mcp_servers`. */
export const SERVERS_SCHEMA = {
  type: "object",
  description:
    "MCP servers whose tools sessions can be given, by name: programs in a sandbox without network, which find nothing but what is named here, or, with a url, servers that are asked over HTTP. Their tools are called NAME__TOOL.",
  propertyNames: { pattern: SERVER_NAME_PATTERN },
  maxProperties: 32,
  additionalProperties: SERVER,
} as const satisfies MapShape & { readonly description: string };
