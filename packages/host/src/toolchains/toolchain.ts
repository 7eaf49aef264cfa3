/** What installed a prefix, or what is in it where nobody in particular did. */
export type ToolchainKind =
  | "asdf"
  | "cargo"
  | "conda"
  | "file"
  | "fnm"
  | "go"
  | "java"
  | "nix"
  | "node"
  | "nvm"
  | "other"
  | "pyenv"
  | "python"
  | "rustup"
  | "sdkman"
  | "volta";

/** Programs outside `/usr` that the user's PATH leads to. */
export interface Toolchain {
  readonly kind: ToolchainKind;
  /** Without links. */
  readonly prefix: string;
  /** As the files say; no program of the host is run to find out. */
  readonly version: string | undefined;
  /** Why it is not mounted. */
  readonly unusable: string | undefined;
  /** Its directories for the PATH inside, in the user's order. Empty for what only a link of another prefix needs. */
  readonly directories: readonly string[];
  /** On the PATH before the system's own programs, or after them. */
  readonly place: "first" | "last";
  readonly mounts: readonly ToolchainMount[];
  /** Variables without which its programs look for their files in HOME. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface ToolchainMount {
  readonly source: string;
  /** The same path, so that first lines of scripts and paths in libraries lead somewhere; or what a link calls it. */
  readonly target: string;
}
