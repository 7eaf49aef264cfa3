/** One rule, said in the language of each engine. */
export interface SampleRule {
  readonly id: string;
  readonly isForbid: boolean;
  /** `*` is every action. */
  readonly action: string;
  readonly cedar: string;
  /** An expression over `r.ctx`; empty is always. */
  readonly casbin: string;
  /** Queries over the context, of which any is enough: it has no "or". */
  readonly casl: readonly Readonly<Record<string, unknown>>[];
}

/** As many as the default policy permits, one rule each. */
export const DEFAULT_TOOLS = 45;
/** So many conditional rules are about every action, whatever the size of the set. */
const GENERAL_RULES = 10;

export const toolName = (number: number): string => `tool_${number}`;

export interface SampleSize {
  /** Rules with conditions, besides one permit for each tool. */
  readonly rules: number;
  readonly tools: number;
}

/** Permits of single tools, as in the default policy, and so many rules with conditions. */
export function sampleRules({ rules, tools }: SampleSize): SampleRule[] {
  const permits = Array.from({ length: tools }, (_, number) => ({
    id: `allow-${toolName(number)}`,
    isForbid: false,
    action: toolName(number),
    cedar: "",
    casbin: "",
    casl: [{}],
  }));
  return [...permits, ...Array.from({ length: rules }, (_, number) => conditionalRule(number, tools))];
}

/** The first are about every action, each of the others about one tool. */
function conditionalRule(number: number, tools: number): SampleRule {
  const condition = CONDITIONS[number % CONDITIONS.length] ?? CONDITIONS[0];
  return {
    id: `rule-${number}`,
    isForbid: number % 2 === 1,
    action: number < GENERAL_RULES ? "*" : toolName(number % tools),
    ...condition(number),
  };
}

type Condition = Pick<SampleRule, "cedar" | "casbin" | "casl">;

const CONDITIONS: readonly [(n: number) => Condition, ...((n: number) => Condition)[]] = [
  (n) => ({
    cedar: `context.path like "src/area${n}/*"`,
    casbin: `startsWith(r.ctx.path, "src/area${n}/")`,
    casl: [{ path: { $regex: `^src/area${n}/` } }],
  }),
  (n) => ({
    cedar: `context.labels.contains("label${n}") && context.effects.contains("net_write")`,
    casbin: `contains(r.ctx.labels, "label${n}") && contains(r.ctx.effects, "net_write")`,
    casl: [{ labels: `label${n}`, effects: "net_write" }],
  }),
  (n) => ({
    cedar: `context.calls > ${1000 + n} && context.tier == "external"`,
    casbin: `r.ctx.calls > ${1000 + n} && r.ctx.tier == "external"`,
    casl: [{ calls: { $gt: 1000 + n }, tier: "external" }],
  }),
  (n) => ({
    cedar: `principal.tenant == "tenant${n}"`,
    casbin: `r.ctx.tenant == "tenant${n}"`,
    casl: [{ tenant: `tenant${n}` }],
  }),
  (n) => ({
    cedar: `principal in Tenant::"tenant${n}" || context.host == "host${n}.example"`,
    casbin: `r.ctx.tenant == "tenant${n}" || r.ctx.host == "host${n}.example"`,
    casl: [{ tenant: `tenant${n}` }, { host: `host${n}.example` }],
  }),
];
