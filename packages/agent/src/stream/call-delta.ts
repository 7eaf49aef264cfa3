/** One streamed piece of a tool call, independent of the provider. Any field may be missing. */
export interface CallDelta {
  /** The index of the call in the message. */
  readonly index?: number | undefined;
  /** The provider's name for the call within the stream, if that is not its id. */
  readonly key?: string | undefined;
  /** The id under which the result is sent. */
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  /** The next characters of the arguments. */
  readonly text?: string | undefined;
  /** The complete arguments, which replace all pieces. */
  readonly whole?: string | undefined;
  /** The sequence number of the piece, if the provider numbers them. */
  readonly sequence?: number | undefined;
  /** Whether this is a new call, even if nothing distinguishes it from the previous one. */
  readonly isOther?: boolean | undefined;
  /** Whether the provider itself runs the call. */
  readonly isForeign?: boolean | undefined;
}

/** Extracts the pieces from one event of a provider's stream. Never trusts the event's shape. */
export type DeltaReader = (event: unknown) => readonly CallDelta[];

/** A call as the model made it. Its arguments may be any text. */
export interface StreamedCall {
  readonly id: string;
  /** As the model wrote it. */
  readonly name: string;
  readonly arguments: string;
}
