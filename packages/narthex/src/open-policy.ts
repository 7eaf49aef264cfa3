import {
  assemblePolicy,
  assemblePolicyOrNone,
  type HomePaths,
  listStoredTools,
  readPolicyDirectory,
  schemaForTools,
} from "@narthex/host";
import type { Policy, PolicyFile, PolicySource, Tool } from "@narthex/kernel";

/** The policy of a home. */
export interface HomePolicy extends PolicySource {
  /** For a start: what cannot be used denies everything and says why. */
  loadOrNone(): Promise<Policy>;
}

/** The rules of the home's policy directory and those that the embedding program adds, checked against these tools. */
export async function openPolicy(
  paths: HomePaths,
  tools: readonly Tool[],
  added: readonly PolicyFile[],
): Promise<HomePolicy> {
  const stored = await listStoredTools(paths.tools);
  const ids = [...stored.problems.map(({ id }) => id), ...stored.tools.map(({ declaration }) => declaration.name)];
  const schema = schemaForTools(
    tools,
    ids.map((id) => id.split("@")[0] ?? id),
  );
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
