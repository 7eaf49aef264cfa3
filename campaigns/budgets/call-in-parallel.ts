import assert from "node:assert/strict";
import { type CallResult, defineTool, type NarthexKernel, verifyLedger } from "narthex";
import type { Chance } from "../chance/chance.ts";

const PRICE = 2;
const PARALLEL = 100;

const shape = { description: "Spends.", inputSchema: true, price: PRICE } as const;
const artifact = { kind: "artifact", names: ["*"] } as const;

/** Tools of one price that end in every way. */
export const SPENDING_TOOLS = [
  defineTool({ ...shape, name: "succeeds", tier: "read_only", run: async () => 1 }),
  defineTool({ ...shape, name: "fails", tier: "read_only", run: () => Promise.reject(new Error("no")) }),
  defineTool({
    ...shape,
    name: "acts",
    tier: "side_effecting",
    effects: ["artifact"],
    capabilities: [artifact],
    run: () => 1,
  }),
];

export const SPENDING_RULES = {
  name: "spending.cedar",
  text: SPENDING_TOOLS.map(
    ({ name }) => `@id("${name}") permit(principal, action == Action::"${name}", resource);`,
  ).join("\n"),
};

/** A hundred calls at once on one session: as many start as its budget pays for, and exactly that is gone. */
export async function callInParallel(chance: Chance, kernel: NarthexKernel, workspace: string): Promise<string> {
  const budgets = { calls: chance.below(PARALLEL + 40), cost_units: chance.below((PARALLEL + 40) * PRICE) };
  const session = await kernel.session({ workspace, lease: { budgets } });
  const names = Array.from({ length: PARALLEL }, () => chance.pick(SPENDING_TOOLS).name);
  const results = await Promise.all(names.map((name, number) => session.call(name, number)));

  const paid = Math.min(PARALLEL, budgets.calls, Math.floor(budgets.cost_units / PRICE));
  const denied = results.filter((result) => codeOf(result) === "BUDGET_EXCEEDED").length;
  const story = `${JSON.stringify(budgets)}, ${denied} of ${PARALLEL} were denied`;
  assert.equal(PARALLEL - denied, paid, `a budget for ${paid} calls: ${story}`);
  const others = new Set(
    results.map(codeOf).filter((code) => !["success", "EXECUTION_FAILED", "BUDGET_EXCEEDED"].includes(code)),
  );
  assert.deepEqual([...others], [], "ended otherwise");
  const left = { calls: budgets.calls - paid, cost_units: budgets.cost_units - paid * PRICE };
  assert.deepEqual((await kernel.getSession(session.id))?.budgetRemaining, left, story);
  const again = codeOf(await session.call("succeeds", 0));
  assert.equal(again, left.calls > 0 && left.cost_units >= PRICE ? "success" : "BUDGET_EXCEEDED", `one more: ${story}`);
  await session.close();
  return paid < PARALLEL ? "100 parallel calls: budget used up" : "100 parallel calls: budget left";
}

export async function assertSound(kernel: NarthexKernel): Promise<number> {
  const { problems, records } = await verifyLedger(kernel.ledgerSource());
  assert.deepEqual(problems, [], "the ledger is not sound");
  return records;
}

function codeOf({ response: { result } }: CallResult): string {
  if (result.case === "error") return result.value.errorCode;
  return result.case === "denied" ? result.value.rationaleCode : String(result.case);
}
