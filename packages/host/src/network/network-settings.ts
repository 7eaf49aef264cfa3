import type { HostPattern } from "@narthex/kernel";

/** Settings for requests that leave this machine. */
export interface NetworkSettings {
  /** Hosts of sessions that are opened without their own capabilities. */
  readonly hosts: readonly HostPattern[];
  /** DNS servers to use; if empty, the system's resolver is used. */
  readonly dns: readonly string[];
  /** Files with additional trusted CA certificates. */
  readonly authorities: readonly string[];
  /** Where each secret may be sent, by its name. */
  readonly secrets: ReadonlyMap<string, readonly HostPattern[]>;
  readonly credentials: readonly GitCredential[];
}

/** A credential that the gate sends to a host for git, which never holds it. */
export interface GitCredential {
  readonly hosts: readonly HostPattern[];
  readonly secret: string;
  readonly user: string;
}

export interface SearchSettings {
  readonly name: string;
  readonly kind: "searxng" | "brave";
  readonly url: string;
  readonly secret: string | undefined;
}

export interface InferenceSettings {
  readonly name: string;
  readonly format: "openai" | "anthropic" | "gemini";
  readonly url: string;
  readonly secret: string | undefined;
  readonly price: Prices;
  readonly models: ReadonlyMap<string, Prices>;
  readonly maxTokensField: "max_tokens" | "max_completion_tokens" | undefined;
}

/** In cost units per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
}

export const NO_NETWORK_SETTINGS: NetworkSettings = {
  hosts: [],
  dns: [],
  authorities: [],
  secrets: new Map(),
  credentials: [],
};
