import { KernelError } from "@narthex/contracts";
import type { SandboxedProgram } from "@narthex/kernel";
import type { ProgramsDriver } from "../programs/create-programs.ts";
import { WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import { containsPath } from "../toolchains/path-containment.ts";
import { connectServer } from "./connect-server.ts";
import { openServerClient } from "./server-client.ts";
import { ServerConnection } from "./server-connection.ts";
import { SERVER_LIMITS } from "./server-limits.ts";
import {
  secretVariables,
  type ServerPlace,
  type ServerPorts,
  type ServerSource,
  type StartedServer,
} from "./server-source.ts";
import { StreamTransport } from "./stream-transport.ts";

/** Starts a local server, or connects to a remote one, and lists its tools. */
export function startServer(
  ports: ServerPorts,
  source: ServerSource,
  place: ServerPlace,
  signal: AbortSignal,
): Promise<StartedServer> {
  const { url } = source.settings;
  return url === undefined
    ? startProgram(ports.programs, source, place, signal)
    : connectServer(url, ports, source, place.witness, signal);
}

/**
 * Starts a server in its own sandbox and lists its tools.
 *
 * SECURITY: its environment is built from scratch, it has no network, and its working directory is `/`, not the
 * workspace: interpreters load code from the working directory, and files in a workspace may be written by an agent.
 */
async function startProgram(
  programs: ProgramsDriver,
  source: ServerSource,
  place: ServerPlace,
  signal: AbortSignal,
): Promise<StartedServer> {
  verifyFilesOutsideWorkspace(source, place.workspace);
  const timed = AbortSignal.any([signal, AbortSignal.timeout(SERVER_LIMITS.startMs)]);
  // Its lifetime does not end with the call that started it. Only the start can be cancelled.
  const life = new AbortController();
  const giveUp = (): void => life.abort(timed.reason);
  timed.addEventListener("abort", giveUp, { once: true });
  try {
    // Called when the set of protected paths in the workspace changed and another program is waiting to start with the
    // new one.
    const onAsked = (): void => life.abort();
    const started = await programs.start({ ...place, keepsProtected: true }, programOf(source), life.signal, {
      onAsked,
    });
    const connection = new ServerConnection(new StreamTransport(started));
    const conversation = await openServerClient(connection, source, timed);
    const listing = await conversation.listTools(timed);
    const { processor, beginCall, ended } = started;
    return { connection, client: conversation, listing, processor, beginCall, ended };
  } catch (fault) {
    life.abort(fault);
    throw fault;
  } finally {
    timed.removeEventListener("abort", giveUp);
  }
}

function programOf(source: ServerSource): SandboxedProgram {
  const { settings, files } = source;
  return {
    command: ["/usr/bin/env", "-C", "/", ...settings.command],
    workingDirectory: ".",
    environment: { ...Object.fromEntries(settings.environment), ...secretVariables(source) },
    files,
    limits: { memoryBytes: SERVER_LIMITS.memoryBytes, processes: SERVER_LIMITS.processesInside },
  };
}

/** SECURITY: files in a workspace may be written by the agent whose calls the server would then run. */
function verifyFilesOutsideWorkspace({ settings, files }: ServerSource, workspace: string): void {
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
