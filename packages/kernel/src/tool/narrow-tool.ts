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

/** What one call of a tool may do at most. */
export interface NarrowedTool {
  readonly effects: readonly Effect[];
  readonly tier: SafetyTier;
  readonly determinism: Determinism;
  /** What policy is asked about. */
  readonly action: string;
  readonly timeoutMs: number;
  /** Undefined if the tool sets itself no bound. */
  readonly maxCpuMs?: number | undefined;
  /** These arguments ask for more than the tool declared: the call is denied. */
  readonly boundExcess?: BoundExcess;
}

/**
 * The declared maximum, narrowed for these arguments if the tool knows how.
 *
 * SECURITY: decisions rest on this, so a narrowing that claims more than was declared, or that contradicts itself, is
 * a fault (INVALID_DECLARATION) and the call does not run. More time than was declared is what the call asks for, and no
 * fault of its tool: `decide` refuses that.
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

/** SECURITY: a tool can speak only of what it declared, which is itself: a rule for another tool never fits it. */
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

/** Both lists go from the least to the most. */
function isWithin<T>(levels: readonly T[], level: T, most: T): boolean {
  const index = levels.indexOf(level);
  return index >= 0 && index <= levels.indexOf(most);
}

function refuse(tool: Tool, what: string): never {
  throw new KernelError("INVALID_DECLARATION", `narrowing ${tool.name}@${tool.version} ${what}: it may only take away`);
}
