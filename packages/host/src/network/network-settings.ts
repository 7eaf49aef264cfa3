import type { HostPattern } from "@narthex/kernel";

/** How requests leave this machine. */
export interface NetworkSettings {
  /** Of sessions that are opened without rights of their own. */
  readonly hosts: readonly HostPattern[];
  /** Asked instead of the system's resolver; none is the system's. */
  readonly dns: readonly string[];
  /** Files of certificates that are trusted besides. */
  readonly authorities: readonly string[];
  /** Where each secret may be sent, by its name. */
  readonly secrets: ReadonlyMap<string, readonly HostPattern[]>;
  readonly credentials: readonly GitCredential[];
}

/** What git shows a host, without holding it. */
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

/** In cost units for a million tokens. */
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
