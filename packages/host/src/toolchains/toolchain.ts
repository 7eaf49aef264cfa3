/** Tool that installed a prefix, or else the kind of its content. */
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

/** Programs outside `/usr` that are on the user's PATH. */
export interface Toolchain {
  readonly kind: ToolchainKind;
  /** Real path. */
  readonly prefix: string;
  /** Read from files; no program of the host is run. */
  readonly version: string | undefined;
  /** Why it is not mounted. */
  readonly unusable: string | undefined;
  /** Its directories for the PATH inside, in the user's order. Empty if only a link of another prefix needs it. */
  readonly directories: readonly string[];
  /** Position on the PATH: before the system's own programs, or after them. */
  readonly place: "first" | "last";
  readonly mounts: readonly ToolchainMount[];
  /** Variables without which its programs would look for their files in HOME. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface ToolchainMount {
  readonly source: string;
  /**
   * The same path as on the host, so that shebang lines and library paths stay valid; or the path that a link gives it.
   */
  readonly target: string;
}
