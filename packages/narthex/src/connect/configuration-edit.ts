import type { JsonValue } from "@narthex/contracts";

/** A value that a client's configuration must contain. */
export type ConfigurationEdit = MemberEdit | ElementEdit;

/** Sets `value` under `key` in the object at path `at`. */
export interface MemberEdit {
  readonly kind: "member";
  readonly at: readonly string[];
  readonly key: string;
  readonly value: JsonValue;
  /** Whether a different value may be replaced; it is kept for undo. Otherwise the file is refused. */
  mayReplace(current: JsonValue): boolean;
  /** Only replaces a different value; adds nothing if the key is missing. */
  readonly onlyReplaces?: true;
}

/** Adds `value` to the list at path `at`. */
export interface ElementEdit {
  readonly kind: "element";
  readonly at: readonly string[];
  readonly value: JsonValue;
  /** Whether an element was written by an earlier version and is replaced by this one. */
  replaces?(current: JsonValue): boolean;
}

/** An applied change, with everything needed to undo it. */
export type AppliedEdit =
  | {
      readonly kind: "member";
      readonly at: readonly string[];
      readonly key: string;
      readonly value: JsonValue;
      /** Text of the previous value. */
      readonly previous?: string;
      /** An empty line was added after the member. */
      readonly blank?: true;
    }
  | { readonly kind: "element"; readonly at: readonly string[]; readonly value: JsonValue }
  /** An object or list that was created along the path. */
  | {
      readonly kind: "container";
      readonly at: readonly string[];
      readonly key: string;
      /** An empty line was added before the container. */
      readonly blank?: true;
    };

/** Why a file cannot be edited, and the position in it. */
export class EditProblem extends Error {
  override readonly name = "EditProblem";
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}
