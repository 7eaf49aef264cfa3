import { KernelError } from "@narthex/contracts";
import {
  type ProgramExit,
  type EgressGate,
  type EgressAccounting,
  type Logger,
  type ProgramFile,
  type Redactor,
  secretRedactor,
} from "@narthex/kernel";
import type { ProgramsDriver, LongRunningProgram } from "../programs/create-programs.ts";
import type { ResolvedSecrets } from "../secrets/read-secrets.ts";
import type { ServerClient } from "./server-client.ts";
import type { Listing } from "./listing.ts";
import type { ServerConnection } from "./server-connection.ts";
import type { ServerSettings, WorkspaceAccess } from "./server-settings.ts";

/** What servers are started and reached by. */
export interface ServerPorts {
  readonly programs: ProgramsDriver;
  /** Without one, no server can be asked over HTTP. */
  readonly egress?: EgressGate | undefined;
  readonly logger?: Logger | undefined;
}

/** Everything that decides what runs as a server, or where one is asked. */
export interface ServerSource {
  readonly settings: ServerSettings;
  readonly secrets: ResolvedSecrets;
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
  /** Of the call that is under way, for a server that is asked over HTTP. */
  readonly witness?: EgressAccounting | undefined;
}

export interface StartedServer {
  readonly connection: ServerConnection;
  readonly client: ServerClient;
  readonly listing: Listing;
  /** Of one that runs here. */
  readonly processor?: LongRunningProgram["processor"];
  readonly beginCall?: LongRunningProgram["beginCall"];
  /** Of one that is asked over HTTP: whose requests they are from now on; nobody's if undefined. */
  readonly attributeTo?: (witness: EgressAccounting | undefined) => void;
  /** Resolves when nothing of it runs any more, and protected paths are as they were. */
  readonly ended: Promise<Pick<ProgramExit, "putBack">>;
}

/** SECURITY: a server whose secret could not be read does not run without it. */
export function secretVariables({ settings, secrets }: ServerSource): Record<string, string> {
  return Object.fromEntries(
    [...settings.secrets].map(([variable, name]) => {
      const found = secrets.get(name) ?? { problem: "narthex.yaml does not name it" };
      if ("value" in found) return [variable, found.value];
      throw new KernelError("EXECUTION_FAILED", `the secret \`${name}\` is not there: ${found.problem}`);
    }),
  );
}

/** SECURITY: a server can say its secret anywhere: in a result, in the description of a tool, in its last words. */
export function redactorsFor({ settings, secrets }: ServerSource): Redactor[] {
  return [...new Set(settings.secrets.values())].flatMap((name) => {
    const found = secrets.get(name);
    return found !== undefined && "value" in found ? [secretRedactor(name, found.value)] : [];
  });
}
