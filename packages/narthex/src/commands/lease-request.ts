import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  JsonSyntaxError,
  parseJson,
} from "@narthex/contracts";
import { CommandError, usageError } from "../terminal/command-error.ts";
import { parseCount } from "../terminal/units.ts";
import type { OptionDescription } from "./command.ts";
import type { OptionReader } from "./option-reader.ts";
import { readLease } from "./session-options.ts";

export const LEASE_OPTIONS: readonly OptionDescription[] = [
  { flags: "--lease <file>", description: "the lease asked for, as JSON; the options below replace what it says" },
  {
    flags: "--tools <patterns>",
    description: "tool names, or beginnings that end in *, with commas",
    repeatable: true,
  },
  { flags: "--capability <json>", description: "one right, such as the lease's JSON has them", repeatable: true },
  { flags: "--tier <tier>", description: "read_only, side_effecting or privileged" },
  {
    flags: "--budget <name=n>",
    description: "such as calls=100; what is not named is the parent's rest",
    repeatable: true,
  },
  { flags: "--ttl <duration>", description: "how long it may last, such as 30m (default: as long as the parent's)" },
];

/** Builds the lease that a command's options request, as JSON text. */
export async function readLeaseRequest(options: OptionReader): Promise<string> {
  const file = await readLease(options.text("lease"));
  const tools = options.texts("tools").flatMap((list) => list.split(","));
  const capabilities = options.texts("capability").map(parseCapability);
  const budgets = options.texts("budget").map(parseBudget);
  const tier = options.text("tier");
  const ttlMs = options.durationMs("ttl");
  const request = file === undefined ? {} : parseFile(file);
  const given = request["budgets"];
  return canonicalJson({
    ...request,
    ...(tools.length > 0 && { tool_patterns: tools }),
    ...(capabilities.length > 0 && { capabilities }),
    ...(tier !== undefined && { highest_tier: tier }),
    ...(budgets.length > 0 && { budgets: { ...(isJsonObject(given) && given), ...Object.fromEntries(budgets) } }),
    ...(ttlMs !== undefined && { ttl_ms: ttlMs }),
  });
}

function parseFile(text: string): JsonObject {
  const json = parse(text, (reason) => new CommandError("LEASE_INVALID", `the lease is not JSON: ${reason}`));
  if (isJsonObject(json)) return json;
  throw new CommandError("LEASE_INVALID", "the lease is not an object");
}

function parseCapability(text: string): JsonValue {
  return parse(text, (reason) => usageError(`--capability takes JSON: ${reason}`));
}

function parse(text: string, refusal: (reason: string) => Error): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw error instanceof JsonSyntaxError ? refusal(error.message) : error;
  }
}

function parseBudget(text: string): readonly [string, number] {
  const [name = "", value = "", ...rest] = text.split("=");
  const limit = parseCount(value);
  if (name !== "" && limit !== undefined && rest.length === 0) return [name, limit];
  throw usageError(`--budget takes NAME=N with a whole number, such as calls=100, not \`${text.slice(0, 60)}\``);
}
