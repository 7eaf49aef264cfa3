import { type JsonValue, KernelError } from "@narthex/contracts";
import { type BoundExcess, findBoundExcess } from "./bound-excess.ts";
import { WRITE_EFFECTS } from "./effect-rules.ts";
import {
  DETERMINISM_LEVELS,
  type Determinism,
  type Effect,
  type Narrowing,
  SAFETY_TIERS,
  type SafetyTier,
  type Tool,
} from "./tool.ts";

/** The limits of one call of a tool. */
export interface NarrowedTool {
  readonly effects: readonly Effect[];
  readonly tier: SafetyTier;
  readonly determinism: Determinism;
  /** The action of the call's policy requests. */
  readonly action: string;
  readonly timeoutMs: number;
  /** Undefined if the tool declares no such bound. */
  readonly maxCpuMs?: number | undefined;
  /** Set if the arguments request more than the tool declared: the call is denied. */
  readonly boundExcess?: BoundExcess;
}

/**
 * The declared limits, narrowed for these arguments if the tool supports it.
 *
 * SECURITY: decisions rely on this, so a narrowing that exceeds the declaration or contradicts itself is an error
 * (INVALID_DECLARATION) and the call does not run. Requesting more time than declared is not an error of the tool but a
 * property of the call: `decide` denies it.
 */
export function narrowTool(tool: Tool, input: JsonValue): NarrowedTool {
  const action = actionFor(tool, input);
  const { timeoutMs, maxCpuMs } = tool.bounds;
  if (tool.narrow === undefined) {
    return { effects: tool.effects, tier: tool.tier, determinism: tool.determinism, action, timeoutMs, maxCpuMs };
  }
  const narrowing = askTool(tool, input);
  const effects = narrowing.effects ?? tool.effects;
  const tier = narrowing.tier ?? tool.tier;
  const determinism = narrowing.determinism ?? tool.determinism;
  for (const effect of effects) {
    if (!tool.effects.includes(effect)) refuse(tool, `adds the effect ${effect}`);
    if (tier === "read_only" && WRITE_EFFECTS.has(effect)) refuse(tool, `keeps ${effect} in a read_only call`);
    if (determinism === "pure") refuse(tool, `keeps ${effect} in a pure call`);
  }
  if (!isWithin(SAFETY_TIERS, tier, tool.tier)) refuse(tool, `raises the tier to ${tier}`);
  if (!isWithin(DETERMINISM_LEVELS, determinism, tool.determinism)) {
    refuse(tool, `loosens determinism to ${determinism}`);
  }
  const asked = narrowing.timeoutMs ?? timeoutMs;
  if (!Number.isSafeInteger(asked) || asked < 1) refuse(tool, `asks for ${asked} ms`);
  const cpuMs = narrowing.maxCpuMs ?? maxCpuMs;
  if (cpuMs !== undefined && !(Number.isSafeInteger(cpuMs) && cpuMs >= 0)) {
    refuse(tool, `asks for ${cpuMs} ms of the processor`);
  }
  const beyond = findBoundExcess({ timeoutMs: asked, maxCpuMs: cpuMs }, tool.bounds);
  return {
    effects,
    tier,
    determinism,
    action,
    timeoutMs: asked,
    maxCpuMs: cpuMs,
    ...(beyond && { boundExcess: beyond }),
  };
}

/**
 * SECURITY: a tool can only name actions that it declared, all its own, so it never matches a rule for another tool.
 */
function actionFor(tool: Tool, input: JsonValue): string {
  if (tool.action === undefined) return tool.name;
  const action = tool.action(input);
  if (tool.actions?.includes(action) === true) return action;
  throw new KernelError("INVALID_DECLARATION", `${tool.name}@${tool.version} names an action that is not its own`);
}

function askTool(tool: Tool, input: JsonValue): Narrowing {
  try {
    return tool.narrow?.(input) ?? {};
  } catch (cause) {
    throw new KernelError("INVALID_DECLARATION", `narrowing ${tool.name}@${tool.version} failed`, { cause });
  }
}

/** Whether `level` is at most `most`. Both lists are in ascending order. */
function isWithin<T>(levels: readonly T[], level: T, most: T): boolean {
  const index = levels.indexOf(level);
  return index >= 0 && index <= levels.indexOf(most);
}

function refuse(tool: Tool, what: string): never {
  throw new KernelError("INVALID_DECLARATION", `narrowing ${tool.name}@${tool.version} ${what}: it may only take away`);
}
