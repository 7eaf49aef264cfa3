import type { DeclaredTool } from "@narthex/testkit";

/** A coding agent from npm, as the suite runs it. */
export interface AgentClient {
  /** As `narthex connect` takes it. */
  readonly name: string;
  readonly title: string;
  readonly package: string;
  /** The pinned version. */
  readonly version: string;
  /** Its file in `node_modules/.bin`. */
  readonly program: string;
  /** Writes the settings that a user of it has: the provider, trust in the project, nothing else. */
  prepare(place: ClientPlace): Promise<void>;
  /** Command-line arguments by which its user accepts the server `narthex` once, where trust in the project is not enough. */
  readonly acceptServer?: readonly string[];
  /** Variables that a run needs, beside `HOME` and `PATH`. */
  environment(place: ClientPlace): Readonly<Record<string, string>>;
  /** Command-line arguments of a run without a terminal. */
  arguments(prompt: string, options: RunMode): readonly string[];
  /** The name by which its model calls a tool of the server `narthex`. */
  toolName(name: string): Pick<DeclaredTool, "name" | "namespace">;
  /** Calls of its own tools that act, each of which would leave a file. */
  ownTools(path: string): readonly OwnCall[];
  /** Checks that this client cannot pass whatever narthex does, with the reason. */
  readonly unsupported?: Readonly<Record<string, string>>;
}

export interface ClientPlace {
  /** The user's home. */
  readonly home: string;
  readonly project: string;
  readonly modelUrl: string;
}

export interface RunMode {
  /** Whether its own questions are answered with yes in advance, as far as it allows that. */
  readonly isPermissive: boolean;
}

export interface OwnCall {
  readonly name: string;
  /** Declared to other models only; one that knows the name may call it all the same. */
  readonly isKnown?: boolean;
  readonly input: Readonly<Record<string, string | number | boolean>>;
}
