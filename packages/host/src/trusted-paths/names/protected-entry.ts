/** Names that one program runs or trusts without being asked, in any directory of a workspace. */
export interface ProtectedEntry {
  readonly reader: string;
  /** What the program does with them. */
  readonly why: string;
  /** Where this is documented. */
  readonly source: string;
  /** `*` stands for any part of one name. */
  readonly paths: readonly string[];
}

export interface ProtectedGroup {
  readonly title: string;
  readonly entries: readonly ProtectedEntry[];
}
