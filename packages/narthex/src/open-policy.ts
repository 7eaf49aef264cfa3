import {
  assemblePolicy,
  assemblePolicyOrNone,
  type HomePaths,
  type PolicyLoading,
  readPolicyDirectory,
} from "@narthex/host";
import type { Policy, PolicyFile, PolicySchema, PolicySource, Tool } from "@narthex/kernel";
import { checkedDefaultPolicy } from "./default-policy-directory.ts";

/** The policy of a home. */
export interface HomePolicy extends PolicySource {
  /** For a start: what cannot be used denies everything and says why. */
  loadOrNone(): Promise<Policy>;
}

/** What the rules of a home are checked against, and who is told what is wrong with them. */
export interface HomePolicyOptions {
  readonly tools: readonly Tool[];
  readonly schema: PolicySchema;
  /** Rules of the embedding program: a rule of these that does not do what it says is an error. */
  readonly added: readonly PolicyFile[];
  warn(warning: string): void;
}

/** The rules of the home's policy directory and those that the embedding program adds. */
export function openPolicy(paths: HomePaths, { tools, schema, added, warn }: HomePolicyOptions): HomePolicy {
  const review = { tools, strictFiles: new Set(added.map(({ name }) => name)) };
  const assemble = async (files: readonly PolicyFile[]): Promise<Policy> =>
    warnOf(await assemblePolicy(files, schema, { ...(await loading(paths)), inThread: true }, review), warn);
  const read = async (): Promise<PolicyFile[]> => [...(await readPolicyDirectory(paths.policy)), ...added];
  return {
    directory: paths.policy,
    load: async () => assemble(await read()),
    loadChanged: async (set, { add, remove }) => {
      const names = new Set([add?.name, remove]);
      const files = (JSON.parse(Buffer.from(set).toString()) as PolicyFile[]).filter(({ name }) => !names.has(name));
      return assemble(add === undefined ? files : [...files, add]);
    },
    loadOrNone: async () => warnOf(await assemblePolicyOrNone(read, schema, await loading(paths), review), warn),
  };
}

function warnOf(policy: Policy, warn: (warning: string) => void): Policy {
  const { current } = policy;
  if ("problem" in current) warn(`no policy is in force, so every call is denied: ${current.problem}`);
  else current.warnings.forEach(warn);
  return policy;
}

async function loading({ checkedPolicy }: HomePaths): Promise<PolicyLoading> {
  return { directory: checkedPolicy, shipped: await checkedDefaultPolicy() };
}
