import type { DeclaredTool } from "@narthex/testkit";

/** A coding agent from npm that the suite tests. */
export interface AgentClient {
  /** The name that `narthex connect` takes. */
  readonly name: string;
  readonly title: string;
  readonly package: string;
  /** The pinned version. */
  readonly version: string;
  /** Its file in `node_modules/.bin`. */
  readonly program: string;
  /** Writes the settings that its users typically have: the provider, trust in the project, nothing else. */
  prepare(place: ClientPlace): Promise<void>;
  /**
   * Command-line arguments with which a user accepts the server `narthex` once, if trusting the project is not enough.
   */
  readonly acceptServer?: readonly string[];
  /** Environment variables for a run, in addition to `HOME` and `PATH`. */
  environment(place: ClientPlace): Readonly<Record<string, string>>;
  /** Command-line arguments of a run without a terminal. */
  arguments(prompt: string, options: RunMode): readonly string[];
  /** The name by which its model calls a tool of the server `narthex`. */
  toolName(name: string): Pick<DeclaredTool, "name" | "namespace">;
  /** Calls of its built-in tools that act; each of them would leave a file. */
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
  /** Whether the client's own prompts are approved in advance, as far as it allows that. */
  readonly isPermissive: boolean;
}

export interface OwnCall {
  readonly name: string;
  /** True for a tool that is declared only to other models; a model that knows the name may still call it. */
  readonly isKnown?: boolean;
  readonly input: Readonly<Record<string, string | number | boolean>>;
}
