import type { MapShape, ObjectShape, TextShape } from "../mcp-servers/servers-schema.ts";
import { SECRET_NAME_PATTERN } from "../secrets/secret-source.ts";

const SECRET: TextShape = { type: "string", pattern: SECRET_NAME_PATTERN, maxLength: 64 };
const NAME_PATTERN = "^[a-z][a-z0-9_-]{0,63}$";
const PORT = "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
const BYTE = "(?:0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])";
const LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?";
/** An IPv6 address; validated further when it is parsed. */
const BRACKETED = "\\[[0-9a-f:]{2,39}\\]";
/** A host, `*.` and a host, or an address, with or without a port; validated further when it is parsed. */
const PLACE: TextShape = {
  type: "string",
  pattern: `^(?:(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*|${BRACKETED})(?::${PORT})?$`,
  maxLength: 300,
};
const SERVER: TextShape = {
  type: "string",
  pattern: `^(?:(?:${BYTE}\\.){3}${BYTE}|${BRACKETED})(?::${PORT})?$`,
  maxLength: 64,
};
const ANY_PLACE: TextShape = { ...PLACE, pattern: `^\\*$|${PLACE.pattern}` };
const URL_TEXT: TextShape = { type: "string", pattern: "^https?://[^\\s@?#\\\\]+$", maxLength: 2048 };
const FILE: TextShape = { type: "string", pattern: "^/[^\u0000]+$", maxLength: 4096 };
const PRICE = { type: "integer", minimum: 0, maximum: 1_000_000_000_000 } as const;
const PRICES: ObjectShape["properties"] = { input_price: PRICE, output_price: PRICE };

type Described<T> = T & { readonly description: string };

/** The section `network`. */
export const NETWORK_SCHEMA: Described<ObjectShape> = {
  type: "object",
  description:
    "How requests leave this machine: `hosts` that sessions may ask which are opened without rights of their own, `dns` servers to ask instead of the system's, more certificate `authorities`, to which hosts each of `secrets` may be sent, and `credentials` for git.",
  additionalProperties: false,
  properties: {
    hosts: { type: "array", maxItems: 100, items: ANY_PLACE },
    dns: { type: "array", maxItems: 8, items: SERVER },
    authorities: { type: "array", maxItems: 16, items: FILE },
    secrets: {
      type: "object",
      propertyNames: { pattern: SECRET_NAME_PATTERN },
      maxProperties: 100,
      additionalProperties: { type: "array", minItems: 1, maxItems: 50, items: PLACE },
    },
    credentials: {
      type: "array",
      maxItems: 50,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["host", "secret"],
        properties: {
          host: PLACE,
          secret: SECRET,
          user: { type: "string", pattern: "^[^\u0000-\u001f:]+$", maxLength: 256 },
        },
      },
    },
  },
};

/** The section `web_search`. */
export const WEB_SEARCH_SCHEMA: Described<MapShape> = {
  type: "object",
  description: "Where web_search looks, by name; the first is asked where a call names none.",
  propertyNames: { pattern: NAME_PATTERN },
  maxProperties: 16,
  additionalProperties: {
    type: "object",
    additionalProperties: false,
    required: ["kind", "url"],
    properties: { kind: { type: "string", enum: ["searxng", "brave"] }, url: URL_TEXT, secret: SECRET },
  },
};

/** The section `inference`. */
export const INFERENCE_SCHEMA: Described<MapShape> = {
  type: "object",
  description: "Providers of models, by name, with prices in cost units for a million tokens.",
  propertyNames: { pattern: NAME_PATTERN },
  maxProperties: 16,
  additionalProperties: {
    type: "object",
    additionalProperties: false,
    required: ["format", "url"],
    properties: {
      format: { type: "string", enum: ["openai", "anthropic", "gemini"] },
      url: URL_TEXT,
      secret: SECRET,
      ...PRICES,
      max_tokens_field: { type: "string", enum: ["max_tokens", "max_completion_tokens"] },
      models: {
        type: "object",
        propertyNames: { pattern: "^[^\u0000-\u001f]{1,256}$" },
        maxProperties: 256,
        additionalProperties: { type: "object", additionalProperties: false, properties: PRICES },
      },
    },
  },
};
