import type { JsonValue } from "@narthex/contracts";

/** What a client's configuration is to hold. */
export type ConfigurationEdit = MemberEdit | ElementEdit;

/** `value` under `key`, in the object that the keys of `at` lead to. */
export interface MemberEdit {
  readonly kind: "member";
  readonly at: readonly string[];
  readonly key: string;
  readonly value: JsonValue;
  /** Whether another value there may be replaced; it is kept for undo. Otherwise the file is refused. */
  mayReplace(current: JsonValue): boolean;
  /** Written only in the place of another value. */
  readonly onlyReplaces?: true;
}

/** `value` in the list that the keys of `at` lead to. */
export interface ElementEdit {
  readonly kind: "element";
  readonly at: readonly string[];
  readonly value: JsonValue;
  /** Elements that an earlier version wrote, which this one takes the place of. */
  replaces?(current: JsonValue): boolean;
}

/** What was done to a file, in order: enough to take it back. */
export type AppliedEdit =
  | {
      readonly kind: "member";
      readonly at: readonly string[];
      readonly key: string;
      readonly value: JsonValue;
      /** The text of the value that stood there before. */
      readonly previous?: string;
      /** An empty line was added after it. */
      readonly blank?: true;
    }
  | { readonly kind: "element"; readonly at: readonly string[]; readonly value: JsonValue }
  /** An object or list that was made on the way. */
  | {
      readonly kind: "container";
      readonly at: readonly string[];
      readonly key: string;
      /** An empty line was added before it. */
      readonly blank?: true;
    };

/** Why a file is left as it is, and where in it. */
export class EditProblem extends Error {
  override readonly name = "EditProblem";
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}
