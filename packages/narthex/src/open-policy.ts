import {
  assemblePolicy,
  assemblePolicyOrNone,
  type HomePaths,
  type PolicyLoadOptions,
  type PolicyReview,
  readPolicyDirectory,
} from "@narthex/host";
import { KernelError } from "@narthex/contracts";
import type { Policy, PolicyFile, PolicySchema, PolicySource, Tool } from "@narthex/kernel";
import { findCheckedDefaultPolicy } from "./default-policy-directory.ts";

/** The policy of a home. */
export interface HomePolicy extends PolicySource {
  /** For the start of a kernel: an unusable policy denies everything and states the reason. */
  loadOrDenyAll(): Promise<Policy>;
}

/** What the rules of a home are checked against, and where their problems are reported. */
export interface HomePolicyOptions {
  /** Tools that are registered later are added to this array. */
  readonly tools: Tool[];
  schemaFor(tools: readonly Tool[]): PolicySchema;
  /** Rules of the embedding program: one that does not do what it says is an error, not a warning. */
  readonly embeddedFiles: readonly PolicyFile[];
  warn(warning: string): void;
}

/** Opens the rules of the home's policy directory and those that the embedding program adds. */
export function openPolicy(paths: HomePaths, { tools, schemaFor, embeddedFiles, warn }: HomePolicyOptions): HomePolicy {
  let inCode = embeddedFiles;
  /** Names of the policy files that came with a tool, by tool name. */
  const rulesOf = new Map<string, ReadonlySet<string>>();
  let checking = createCheckContext(tools, inCode, schemaFor);
  const assemble = async (files: readonly PolicyFile[], { schema, review } = checking): Promise<Policy> =>
    reportWarnings(
      await assemblePolicy(files, schema, { ...(await createPolicyLoading(paths)), inThread: true }, review),
      warn,
    );
  const read = async (): Promise<PolicyFile[]> => [...(await readPolicyDirectory(paths.policy)), ...inCode];
  return {
    directory: paths.policy,
    load: async () => assemble(await read()),
    loadChanged: async (set, { add, remove }) => {
      const names = new Set([add?.name, remove]);
      const files = parsePolicySet(set).filter(({ name }) => !names.has(name));
      return assemble(add === undefined ? files : [...files, add]);
    },
    loadWithTool: async (set, tool, rules) => {
      const files = parsePolicySet(set);
      const taken = rules.find(({ name }) => files.some((file) => file.name === name));
      if (taken !== undefined) {
        throw new KernelError(
          "POLICY_INVALID",
          `there is a file \`${taken.name}\` of rules already: name it differently`,
        );
      }
      const more = [...inCode, ...rules];
      const next = createCheckContext([...tools, tool], more, schemaFor);
      return {
        policy: await assemble([...files, ...rules], next),
        commit() {
          tools.push(tool);
          rulesOf.set(tool.name, new Set(rules.map(({ name }) => name)));
          inCode = more;
          checking = next;
        },
      };
    },
    loadWithoutTool: async (set, tool) => {
      const isKept = ({ name }: PolicyFile): boolean => rulesOf.get(tool.name)?.has(name) !== true;
      const left = tools.filter(({ name }) => name !== tool.name);
      const less = inCode.filter(isKept);
      const next = createCheckContext(left, less, schemaFor);
      return {
        policy: await assemble(parsePolicySet(set).filter(isKept), next),
        commit() {
          tools.splice(0, tools.length, ...left);
          rulesOf.delete(tool.name);
          inCode = less;
          checking = next;
        },
      };
    },
    loadOrDenyAll: async () => {
      const { schema, review } = checking;
      return reportWarnings(await assemblePolicyOrNone(read, schema, await createPolicyLoading(paths), review), warn);
    },
  };
}

interface CheckContext {
  readonly schema: PolicySchema;
  readonly review: PolicyReview;
}

/** Builds the schema and the review options that rules are checked with. */
function createCheckContext(
  tools: readonly Tool[],
  inCode: readonly PolicyFile[],
  schemaFor: HomePolicyOptions["schemaFor"],
): CheckContext {
  const strictFiles = new Set(inCode.map(({ name }) => name));
  return { schema: schemaFor(tools), review: { tools: [...tools], strictFiles } };
}

/** Not validated: the set was in force before. */
function parsePolicySet(set: Uint8Array): PolicyFile[] {
  return JSON.parse(Buffer.from(set).toString()) as PolicyFile[];
}

function reportWarnings(policy: Policy, warn: (warning: string) => void): Policy {
  const { current } = policy;
  if ("problem" in current) warn(`no policy is in force, so every call is denied: ${current.problem}`);
  else current.warnings.forEach(warn);
  return policy;
}

async function createPolicyLoading({ checkedPolicy }: HomePaths): Promise<PolicyLoadOptions> {
  return { directory: checkedPolicy, shipped: await findCheckedDefaultPolicy() };
}
