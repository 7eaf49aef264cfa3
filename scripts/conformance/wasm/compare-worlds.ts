import { isArithmeticNan, isCanonicalNan, isExpected } from "./bits.ts";
import { type Outcome, showOutcome } from "./outcome.ts";
import type { ScriptCommand } from "./script-command.ts";
import type { World } from "./world.ts";

/**
 * The result of comparing a command:
 * - `passed`: both worlds do what the suite says;
 * - `alike`: both do the same, which is not what the suite says: this V8 supports more or less than the suite;
 * - `rejected`: the meter refuses the module, and says why;
 * - `skipped`: it cannot be run here;
 * - `different`: the meter changed what the module does.
 */
export type Verdict =
  | { readonly kind: "passed" }
  | { readonly kind: "alike"; readonly note: string }
  | { readonly kind: "rejected"; readonly reason: string }
  | { readonly kind: "skipped"; readonly reason: string }
  | { readonly kind: "different"; readonly note: string };

export interface Worlds {
  readonly plain: World;
  readonly metered: World;
}

export type ReadModuleFile = (filename: string) => Uint8Array;

export function compareWorlds({ plain, metered }: Worlds, command: ScriptCommand, read: ReadModuleFile): Verdict {
  const { type, filename, action } = command;
  if (type === "assert_malformed" || type === "assert_invalid") {
    if (command.moduleType === "text" || filename === undefined) return skipped("a module that is there as text only");
    const bytes = read(filename);
    const [left, right] = [plain.load(bytes), metered.load(bytes)];
    // The meter rejects an invalid module as such, which is what the suite expects.
    const isRejected = right.kind === "rejected" || right.kind === "failed";
    if (left.kind === "failed") return isRejected ? { kind: "passed" } : different(left, right);
    return judge(left, right, () => false);
  }
  const types = command.expected.map((value) => value.type);
  const both = (run: (world: World) => Outcome): readonly [Outcome, Outcome] => [run(plain), run(metered)];
  switch (type) {
    case "module": {
      if (filename === undefined) return skipped("a module without a file");
      const bytes = read(filename);
      return judge(...both((world) => world.define(bytes, command.name)), ({ kind }) => kind === "done");
    }
    case "register":
      return judge(...both((world) => world.register(command.as ?? "", command.name)), ({ kind }) => kind === "done");
    case "assert_unlinkable":
    case "assert_uninstantiable": {
      if (filename === undefined) return skipped("a module without a file");
      const bytes = read(filename);
      const wanted = type === "assert_unlinkable" ? "failed" : "trap";
      return judge(...both((world) => world.load(bytes)), ({ kind }) => kind === wanted);
    }
  }
  if (action === undefined) return skipped(`a command \`${type}\``);
  const [left, right] = both((world) => world.act(action, types));
  switch (type) {
    case "action":
      return judge(left, right, ({ kind }) => kind === "values", { types, isAsserted: false });
    case "assert_return":
      return judge(left, right, (outcome) => isAsExpected(command, outcome), { types, isAsserted: true });
    case "assert_trap":
      return judge(left, right, ({ kind }) => kind === "trap");
    case "assert_exhaustion":
      return judge(left, right, ({ kind }) => kind === "exhausted");
    default:
      if (right.kind === "rejected") return right;
      return skipped(`a command \`${type}\``);
  }
}

function isAsExpected({ expected }: ScriptCommand, outcome: Outcome): boolean {
  if (outcome.kind !== "values" || outcome.values.length !== expected.length) return false;
  return expected.every((value, index) => isExpected(value, outcome.values[index] ?? ""));
}

/** `isAsserted` if the suite specifies every bit of the values, except for those of NaNs. */
function judge(
  plain: Outcome,
  metered: Outcome,
  isWanted: (outcome: Outcome) => boolean,
  { types, isAsserted }: { readonly types: readonly string[]; readonly isAsserted: boolean } = NO_VALUES,
): Verdict {
  if (metered.kind === "rejected") return { kind: "rejected", reason: metered.reason };
  if (isWanted(plain) !== isWanted(metered)) return different(plain, metered);
  const areBothRight = isWanted(plain);
  if (!(isAsserted && areBothRight) && !isSame(plain, metered, types)) return different(plain, metered);
  return areBothRight ? { kind: "passed" } : { kind: "alike", note: showOutcome(plain) };
}

const NO_VALUES = { types: [], isAsserted: false };

function isSame(plain: Outcome, metered: Outcome, types: readonly string[]): boolean {
  if (plain.kind !== "values" || metered.kind !== "values") return showOutcome(plain) === showOutcome(metered);
  return (
    plain.values.length === metered.values.length &&
    plain.values.every((value, index) => isSameValue(types[index] ?? "", value, metered.values[index] ?? ""))
  );
}

/** Where V8 returns any arithmetic NaN, the meter may return the canonical one. */
function isSameValue(type: string, plain: string, metered: string): boolean {
  if (plain === metered) return true;
  if (type !== "f32" && type !== "f64") return false;
  return isArithmeticNan(type, BigInt(plain)) && isCanonicalNan(type, BigInt(metered));
}

function different(plain: Outcome, metered: Outcome): Verdict {
  return { kind: "different", note: `plain ${showOutcome(plain)}, metered ${showOutcome(metered)}` };
}

function skipped(reason: string): Verdict {
  return { kind: "skipped", reason };
}
