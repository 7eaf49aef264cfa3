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

/** What is needed to start servers or to connect to them. */
export interface ServerPorts {
  readonly programs: ProgramsDriver;
  /** Without a gate, servers cannot be reached over HTTP. */
  readonly egress?: EgressGate | undefined;
  readonly logger?: Logger | undefined;
}

/** Everything that decides which program runs as a server, or which URL is called. */
export interface ServerSource {
  readonly settings: ServerSettings;
  readonly secrets: ResolvedSecrets;
  /** Its files, by their paths in the configuration. */
  readonly files: readonly ProgramFile[];
  /** Version of this kernel that the server is told. */
  readonly version: string;
}

/** The session and workspace of one server process. */
export interface ServerPlace {
  readonly sessionId: string;
  /** Absolute, real path. */
  readonly workspace: string;
  readonly access: WorkspaceAccess;
  readonly mayFork: boolean;
  /** Accounting of the current call, for a remote server. */
  readonly witness?: EgressAccounting | undefined;
}

export interface StartedServer {
  readonly connection: ServerConnection;
  readonly client: ServerClient;
  readonly listing: Listing;
  /** Of a local server. */
  readonly processor?: LongRunningProgram["processor"];
  readonly beginCall?: LongRunningProgram["beginCall"];
  /** Of a remote server: attributes further requests to a call, or to none if undefined. */
  readonly attributeTo?: (witness: EgressAccounting | undefined) => void;
  /** Resolves when all its processes have ended and protected paths are restored. */
  readonly ended: Promise<Pick<ProgramExit, "putBack">>;
}

/** SECURITY: a server does not run without a secret that could not be read. */
export function secretVariables({ settings, secrets }: ServerSource): Record<string, string> {
  return Object.fromEntries(
    [...settings.secrets].map(([variable, name]) => {
      const found = secrets.get(name) ?? { problem: "narthex.yaml does not name it" };
      if ("value" in found) return [variable, found.value];
      throw new KernelError("EXECUTION_FAILED", `the secret \`${name}\` is not there: ${found.problem}`);
    }),
  );
}

/**
 * SECURITY: a server may disclose its secret anywhere: in a result, in the description of a tool, in its error output.
 */
export function redactorsFor({ settings, secrets }: ServerSource): Redactor[] {
  return [...new Set(settings.secrets.values())].flatMap((name) => {
    const found = secrets.get(name);
    return found !== undefined && "value" in found ? [secretRedactor(name, found.value)] : [];
  });
}
