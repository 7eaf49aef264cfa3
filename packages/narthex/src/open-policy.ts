import { assemblePolicy, assemblePolicyOrNone, type HomePaths, readPolicyDirectory } from "@narthex/host";
import type { Policy, PolicyFile, PolicySchema, PolicySource } from "@narthex/kernel";

/** The policy of a home. */
export interface HomePolicy extends PolicySource {
  /** For a start: what cannot be used denies everything and says why. */
  loadOrNone(): Promise<Policy>;
}

/** The rules of the home's policy directory and those that the embedding program adds, checked against this schema. */
export function openPolicy(paths: HomePaths, schema: PolicySchema, added: readonly PolicyFile[]): HomePolicy {
  const directory = paths.checkedPolicy;
  const read = async (): Promise<PolicyFile[]> => [...(await readPolicyDirectory(paths.policy)), ...added];
  return {
    directory: paths.policy,
    load: async () => assemblePolicy(await read(), schema, { directory, inThread: true }),
    loadChanged: async (set, { add, remove }) => {
      const names = new Set([add?.name, remove]);
      const files = (JSON.parse(Buffer.from(set).toString()) as PolicyFile[]).filter(({ name }) => !names.has(name));
      return assemblePolicy(add === undefined ? files : [...files, add], schema, { directory, inThread: true });
    },
    loadOrNone: () => assemblePolicyOrNone(read, schema, { directory }),
  };
}
