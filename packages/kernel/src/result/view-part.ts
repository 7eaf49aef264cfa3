/** A part of a result's plain text: a short text of the tool, or an output that may be long. */
export type ViewPart = string | LongText;

/** An output that a view may shorten to its beginning and its end. */
export interface LongText {
  /** The whole output, or its beginning. */
  readonly text: string;
  /** The end of the output, if `text` is only its beginning. */
  readonly tail?: string | undefined;
  /** Size of the whole output in bytes. */
  readonly size: number;
  /**
   * Lower-case hex; the whole output is stored as content under this hash. Undefined if it is only part of the result.
   */
  readonly hash?: string | undefined;
  /** Name of the output, if a result has several. */
  readonly name?: string | undefined;
}
