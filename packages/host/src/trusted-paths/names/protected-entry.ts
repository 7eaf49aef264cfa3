/** Names that one program runs or trusts without asking, in any directory of a workspace. */
export interface ProtectedEntry {
  readonly reader: string;
  /** How the program uses them. */
  readonly why: string;
  /** Where this is documented. */
  readonly source: string;
  /** `*` matches any part of one name. */
  readonly paths: readonly string[];
}

export interface ProtectedGroup {
  readonly title: string;
  readonly entries: readonly ProtectedEntry[];
}
