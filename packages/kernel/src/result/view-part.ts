/** A piece of a result's plain text: a short text of the tool's own, or an output that may be long. */
export type ViewPart = string | LongText;

/** An output of which a view may show only the beginning and the end. */
export interface LongText {
  /** All of it, or its beginning. */
  readonly text: string;
  /** Its end, where `text` is only the beginning. */
  readonly tail?: string | undefined;
  /** Bytes of the whole output. */
  readonly size: number;
  /** Lower-case hex; the whole output is content under this hash. Undefined where it is only part of the result. */
  readonly hash?: string | undefined;
  /** Names it where a result has several. */
  readonly name?: string | undefined;
}
