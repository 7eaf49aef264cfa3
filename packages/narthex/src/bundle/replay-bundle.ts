import { join } from "node:path";
import { DEFAULT_CONFIGURATION, homePaths, listStoredTools, loadAddedTools, openToolRuntime } from "@narthex/host";
import type { ReplaySource, Tool } from "@narthex/kernel";
import type { ReplaySelection, ReplayEvent } from "@narthex/server";
import { type Bundle, verifyBundle } from "@narthex/verify";
import { createConfiguredBuiltins } from "../configured-builtins.ts";
import { verifyWith } from "../connection/verify-report.ts";
import { createEndpointToolFactory } from "../endpoint-tools.ts";
import { replayLedger } from "../replay/replay-ledger.ts";
import { createReplayPorts } from "../replay/replay-ports.ts";
import { withEmptyDirectory } from "../replay/with-empty-directory.ts";

const MAX_SESSIONS = 100_000;

/** Replays sessions of a bundle with the built-in tools and, if there is a home, with its tools. */
export async function* replayBundle(
  bundle: Bundle,
  selection: ReplaySelection,
  { home, signal }: { readonly home: string; readonly signal: AbortSignal },
): AsyncGenerator<ReplayEvent> {
  const tools = await loadReplayTools(home);
  yield* withEmptyDirectory(async function* (directory) {
    const workshop = openToolRuntime({ paths: homePaths(join(directory, "home")) });
    try {
      const programs = { driver: workshop.programs, emptyDirectory: directory };
      yield* replayLedger(
        {
          source: createReplaySource(bundle),
          ports: createReplayPorts({ tools, programs }),
          listSessions: () => listSessions(bundle),
          verify: (options) => verifyWith((wanted) => verifyBundle(bundle, wanted), options),
        },
        selection,
        signal,
      );
    } finally {
      await workshop.close();
    }
  });
}

/**
 * SECURITY: a bundle never names a tool's code. Only tools installed here run, and only if they match the recorded
 * ones.
 */
async function loadReplayTools(home: string): Promise<Tool[]> {
  const builtins = createConfiguredBuiltins(DEFAULT_CONFIGURATION);
  const directory = homePaths(home).tools;
  const { tools } = await listStoredTools(directory);
  if (tools.length === 0) return builtins;
  const added = await loadAddedTools({
    directory,
    secrets: DEFAULT_CONFIGURATION.secrets,
    environment: {},
    builtins,
    createEndpointTool: createEndpointToolFactory(DEFAULT_CONFIGURATION, undefined),
    taken: new Set(),
  });
  return [...builtins, ...added.tools];
}

function createReplaySource(bundle: Bundle): ReplaySource {
  return {
    omitsContent: true,
    async *records(chain) {
      for await (const row of bundle.source.records()) if (row.chain === chain) yield row;
    },
    findContent: (digest) => bundle.find(digest),
  };
}

async function listSessions(bundle: Bundle): Promise<string[]> {
  if (bundle.chain !== "") return [bundle.chain];
  const sessions = new Set<string>();
  for await (const { chain } of bundle.source.records()) {
    if (chain.startsWith("ses_") && sessions.size < MAX_SESSIONS) sessions.add(chain);
  }
  return [...sessions];
}
