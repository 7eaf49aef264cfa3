import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Observer } from "@narthex/kernel";
import { createKernel } from "narthex";
import { callFor } from "../../harness/call-for.ts";
import { interleave } from "../../harness/interleave.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { percentile, ratioOf } from "../../harness/statistics.ts";

const ROUND_MS = 800;
const IN_FLIGHT = 64;
const RULES = 50;
const MAX_STAGE_US = 40;
const MAX_RATIO = 1.25;

/** The decide stage of a call, and what policy costs a call as a whole: the default set and 50 rules beside one rule. */
export const wholeCall: Measurement = async ({ rounds, scale, directory }) => {
  const stage = new StageTimes();
  const many = await openWith(directory, "many", moreRules());
  const one = await openWith(directory, "one", undefined);
  const watched = await openWith(directory, "watched", moreRules(), stage);
  const load = (call: (n: number) => Promise<void>) => async (): Promise<number> =>
    (await callFor({ milliseconds: ROUND_MS * scale, inFlight: IN_FLIGHT, call })).perSecond;
  const results = await interleave(rounds, {
    many: load(many.call),
    one: load(one.call),
    stage: async () => {
      stage.clear();
      // One at a time: nothing else runs between the two ends of a stage.
      await callFor({ milliseconds: ROUND_MS * scale, inFlight: 1, call: watched.call });
      return stage.p50Us();
    },
  });
  await Promise.all([many.close(), one.close(), watched.close()]);
  return {
    rows: [
      {
        what: `the whole decide stage of a call, default policy and ${RULES} rules: p50`,
        ours: { value: Math.min(...results.stage), unit: "µs" },
        bar: { of: "ours", limit: "at most", value: MAX_STAGE_US },
        picture: "decide stage, p50",
      },
      {
        what: `echo in process, default policy and ${RULES} rules, ${IN_FLIGHT} in flight`,
        ours: { value: Math.max(...results.many), unit: "/s" },
        beside: { value: Math.max(...results.one), unit: "/s", name: "with a policy of one rule" },
        ratio: ratioOf(results.one, results.many),
        bar: { of: "ratio", limit: "at most", value: MAX_RATIO },
        picture: "a call under many rules, beside one rule",
      },
    ],
    raw: {
      "decide stage, p50 µs": results.stage,
      "default and 50 rules, calls/s": results.many,
      "one rule, calls/s": results.one,
    },
    notes: ["The ratio is the time of a call under many rules, in times of a call under one."],
  };
};

/** Without more rules, one rule is all there is. */
async function openWith(directory: string, name: string, more: string | undefined, observer?: Observer) {
  const data = join(directory, name);
  if (more === undefined) {
    await mkdir(join(data, "policy"), { recursive: true, mode: 0o700 });
    await writeFile(join(data, "policy", "one.cedar"), 'permit(principal, action == Action::"echo", resource);');
  }
  const policies = more === undefined ? [] : [{ name: "more.cedar", text: more }];
  const kernel = await createKernel({ data, policies, ...(observer && { observer }) });
  const session = await kernel.session({ workspace: await mkdtemp(join(directory, "workspace-")) });
  return {
    async call(n: number): Promise<void> {
      const { status } = await session.call("echo", { n, text: "hello world" });
      if (status !== "success") throw new Error(`echo answered ${status}`);
    },
    close: () => kernel.close(),
  };
}

/** Ten about every action, the others each about one tool. */
function moreRules(): string {
  const tools = ["echo", "hash", "file_read", "file_list", "result_read"];
  return Array.from({ length: RULES }, (_, n) => {
    const action = n < 10 ? "action" : `action == Action::"${tools[n % tools.length]}"`;
    const condition = [
      `context.labels.contains("label${n}") && context.effects.contains("net_write")`,
      `context.calls > ${1_000_000_000 + n} && context.tier == "privileged"`,
      `principal.tenant == "tenant${n}"`,
      `principal in Tenant::"tenant${n}"`,
      `context.budget has calls && context.budget.calls < ${n}`,
    ][n % 5];
    return `@id("more-${n}") forbid(principal, ${action}, resource) when { ${condition} };`;
  }).join("\n");
}

class StageTimes implements Observer {
  #startedMs = 0;
  #times: number[] = [];

  stage({ stage }: Parameters<Observer["stage"]>[0]): void {
    if (stage === "decide") this.#startedMs = performance.now();
    else if (stage === "dedupe") this.#times.push((performance.now() - this.#startedMs) * 1000);
  }

  clear(): void {
    this.#times = [];
  }

  p50Us(): number {
    return percentile(this.#times, 0.5);
  }
}
