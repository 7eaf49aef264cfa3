import {
  assemblePolicy,
  assemblePolicyOrNone,
  type HomePaths,
  type PolicyLoading,
  readPolicyDirectory,
} from "@narthex/host";
import type { Policy, PolicyFile, PolicySchema, PolicySource } from "@narthex/kernel";
import { checkedDefaultPolicy } from "./default-policy-directory.ts";

/** The policy of a home. */
export interface HomePolicy extends PolicySource {
  /** For a start: what cannot be used denies everything and says why. */
  loadOrNone(): Promise<Policy>;
}

/** The rules of the home's policy directory and those that the embedding program adds, checked against this schema. */
export function openPolicy(paths: HomePaths, schema: PolicySchema, added: readonly PolicyFile[]): HomePolicy {
  const assemble = async (files: readonly PolicyFile[]): Promise<Policy> =>
    assemblePolicy(files, schema, { ...(await loading(paths)), inThread: true });
  const read = async (): Promise<PolicyFile[]> => [...(await readPolicyDirectory(paths.policy)), ...added];
  return {
    directory: paths.policy,
    load: async () => assemble(await read()),
    loadChanged: async (set, { add, remove }) => {
      const names = new Set([add?.name, remove]);
      const files = (JSON.parse(Buffer.from(set).toString()) as PolicyFile[]).filter(({ name }) => !names.has(name));
      return assemble(add === undefined ? files : [...files, add]);
    },
    loadOrNone: async () => assemblePolicyOrNone(read, schema, await loading(paths)),
  };
}

async function loading({ checkedPolicy }: HomePaths): Promise<PolicyLoading> {
  return { directory: checkedPolicy, shipped: await checkedDefaultPolicy() };
}
