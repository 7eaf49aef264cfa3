import { KernelError } from "@narthex/contracts";
import type { ContainedEnd, ContainedProgram, ProgramFile } from "@narthex/kernel";
import type { ProgramsDriver, StartedLasting } from "../programs/create-programs.ts";
import { WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import type { ReadSecrets } from "../secrets/read-secrets.ts";
import { containsPath } from "../toolchains/path-containment.ts";
import { type Conversation, openConversation } from "./conversation.ts";
import { type Listing, readListing } from "./listing.ts";
import { ServerConnection } from "./server-connection.ts";
import { SERVER_LIMITS } from "./server-limits.ts";
import type { ServerSettings, WorkspaceAccess } from "./server-settings.ts";

/** Everything that decides what runs as a server. */
export interface ServerSource {
  readonly settings: ServerSettings;
  readonly secrets: ReadSecrets;
  /** Its files, under the names that the configuration has for them. */
  readonly files: readonly ProgramFile[];
  /** What the server is told of this kernel. */
  readonly version: string;
}

/** Where one process of a server works. */
export interface ServerPlace {
  readonly sessionId: string;
  /** Absolute, real path. */
  readonly workspace: string;
  readonly access: WorkspaceAccess;
  readonly mayFork: boolean;
}

export interface StartedServer {
  readonly connection: ServerConnection;
  readonly conversation: Conversation;
  readonly listing: Listing;
  readonly processor: StartedLasting["processor"];
  /** Resolves when nothing of it runs any more, and protected paths are as they were. */
  readonly ended: Promise<ContainedEnd>;
}

/**
 * Starts a server in a sandbox of its own and asks it for its tools.
 *
 * SECURITY: its environment is made from nothing, it has no network, and it starts in `/`, not in the workspace:
 * interpreters load code from where they are started, and what lies in a workspace may be an agent's.
 */
export async function startServer(
  programs: ProgramsDriver,
  source: ServerSource,
  place: ServerPlace,
  signal: AbortSignal,
): Promise<StartedServer> {
  verifyApart(source, place.workspace);
  const timed = AbortSignal.any([signal, AbortSignal.timeout(SERVER_LIMITS.startMs)]);
  // Its own life: it goes on when the call that started it has ended. Only its start can be given up.
  const life = new AbortController();
  const giveUp = (): void => life.abort(timed.reason);
  timed.addEventListener("abort", giveUp, { once: true });
  try {
    // What is to be guarded in the workspace has changed.
    const onAsked = (): void => life.abort();
    const started = await programs.start({ ...place, keepsProtected: true }, programOf(source), life.signal, {
      onAsked,
    });
    const connection = new ServerConnection(started);
    const conversation = await openConversation(connection, source, timed);
    const listing = readListing(await conversation.listTools(timed));
    return { connection, conversation, listing, processor: started.processor, ended: started.ended };
  } catch (fault) {
    life.abort(fault);
    throw fault;
  } finally {
    timed.removeEventListener("abort", giveUp);
  }
}

function programOf(source: ServerSource): ContainedProgram {
  const { settings, files } = source;
  return {
    command: ["/usr/bin/env", "-C", "/", ...settings.command],
    workingDirectory: ".",
    environment: { ...Object.fromEntries(settings.environment), ...secretVariables(source) },
    files,
    limits: { memoryBytes: SERVER_LIMITS.memoryBytes, processes: SERVER_LIMITS.processesInside },
  };
}

/** SECURITY: a server whose secret could not be read does not run without it. */
function secretVariables({ settings, secrets }: ServerSource): Record<string, string> {
  return Object.fromEntries(
    [...settings.secrets].map(([variable, name]) => {
      const found = secrets.get(name) ?? { problem: "narthex.yaml does not name it" };
      if ("value" in found) return [variable, found.value];
      throw new KernelError("EXECUTION_FAILED", `the secret \`${name}\` is not there: ${found.problem}`);
    }),
  );
}

/** SECURITY: what lies in a workspace may have been written by the agent whose calls the server would then run. */
function verifyApart({ settings, files }: ServerSource, workspace: string): void {
  const [program = ""] = settings.command;
  const overlaps = files
    .flatMap(({ source, target }) => [source, target])
    .filter((path) => containsPath(workspace, path) || containsPath(path, workspace));
  const inside = [workspace, WORKSPACE_PATH].some((place) => containsPath(place, program)) ? [program] : [];
  const [first] = [...overlaps, ...inside];
  if (first === undefined) return;
  throw new KernelError(
    "SANDBOX_UNAVAILABLE",
    `\`${first}\` of the MCP server \`${settings.name}\` and the workspace overlap, and an agent could change what it runs: move one of them`,
  );
}
