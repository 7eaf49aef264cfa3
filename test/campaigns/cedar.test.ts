import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import { ACTION_GROUPS } from "../../campaigns/cedar/cedar-world.ts";
import { compareEngines } from "../../campaigns/cedar/compare-engines.ts";
import type { CedarDecision, CedarEngine, CedarPolicy } from "../../packages/kernel/src/policy/cedar/cedar.ts";
import { compileCedar } from "../../packages/kernel/src/policy/cedar/compile-cedar.ts";

const SEED = 20_261_116;
/** Faults that few requests show need more of them; the sample has more than either. */
const COUNT = 400;
const SUBTLE_COUNT = 1500;

type Compile = (policies: readonly CedarPolicy[]) => CedarEngine;

function compile(policies: readonly CedarPolicy[], groups = ACTION_GROUPS): CedarEngine {
  const { engine } = compileCedar(policies, groups);
  assert.ok(engine);
  return engine;
}

async function failuresOf(broken: Compile, count = COUNT): Promise<readonly string[]> {
  const { failures } = await compareEngines({ count, seed: SEED, progress: () => undefined }, broken);
  return failures;
}

/** Most faults show at once: only those that do not are given all of the requests. */
async function firstFailure(broken: Compile, count: number): Promise<string> {
  const soon = await failuresOf(broken, count / 10);
  const [first = ""] = soon.length > 0 ? soon : await failuresOf(broken, count);
  return first;
}

/** The engine, and afterwards a fault in what it says. */
function answering(alter: (answer: CedarDecision) => CedarDecision): Compile {
  return (policies) => {
    const engine = compile(policies);
    return { name: engine.name, evaluate: (request) => alter(engine.evaluate(request)) };
  };
}

/** The engine, with one word of the rules' conditions taken for another. */
function misreading(from: string, to: string): Compile {
  const alter = (node: JsonValue): JsonValue => {
    if (Array.isArray(node)) return node.map(alter);
    if (typeof node !== "object" || node === null) return node === from ? to : node;
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name === from ? to : name, alter(value)]));
  };
  return (policies) =>
    compile(
      policies.map(({ id, json }) => ({
        id,
        json: { ...json, conditions: alter(json["conditions"] ?? []) } as JsonObject,
      })),
    );
}

const FAULTS: [fault: string, broken: Compile, reason?: RegExp][] = [
  ["rules with errors are not told", answering((answer) => ({ ...answer, errors: [] }))],
  ["an error denies", answering((answer) => ({ ...answer, allowed: answer.allowed && answer.errors.length === 0 }))],
  ["one determining rule is named of several", answering((answer) => ({ ...answer, rules: answer.rules.slice(0, 1) }))],
  [
    "forbid permits",
    (policies) => compile(policies.map(({ id, json }) => ({ id, json: { ...json, effect: "permit" } as JsonObject }))),
  ],
  ["unless is when", misreading("unless", "when")],

  ["== is !=", misreading("==", "!=")],

  ["resource is principal", misreading("resource", "principal")],
  ["no action is in a group", (policies) => compile(policies, new Map())],
  ["groups of groups are none", (policies) => compile(policies, new Map([["read", ["reading"]]]))],
  [
    "entities are overlooked",
    (policies) => {
      const engine = compile(policies);
      return { name: engine.name, evaluate: (request) => engine.evaluate({ ...request, entities: [] }) };
    },
  ],
  ["|| is &&", misreading("||", "&&")],
  ["+ is -", misreading("+", "-")],
  ["<= is <", misreading("<=", "<")],
  ["a set is not compiled", () => assert.fail("not supported"), /^set 0: not supported$/],
];

const SUBTLE: [fault: string, broken: Compile][] = [
  ["containsAny is containsAll", misreading("containsAny", "containsAll")],
];

describe("campaign cedar fails for an engine in which", () => {
  for (const [fault, broken, reason = /the engines differ/] of FAULTS) {
    test(fault, async () => {
      assert.match(await firstFailure(broken, COUNT), reason);
    });
  }
  for (const [fault, broken] of SUBTLE) {
    test(fault, async () => {
      assert.match(await firstFailure(broken, SUBTLE_COUNT), /the engines differ/);
    });
  }
});

test("campaign cedar passes for the compiled engine on the same requests", async () => {
  assert.deepEqual(await failuresOf(compile), []);
});
