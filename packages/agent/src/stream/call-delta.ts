/** One piece of a tool call as it was streamed, whichever provider it came from. Anything may be missing. */
export interface CallDelta {
  /** The call's place in the message. */
  readonly index?: number | undefined;
  /** What the provider calls it among the pieces, if that is not its id. */
  readonly key?: string | undefined;
  /** What the result is to be sent under. */
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  /** The next characters of the arguments. */
  readonly text?: string | undefined;
  /** The arguments from end to end: they count instead of the pieces. */
  readonly whole?: string | undefined;
  /** The piece's place in the stream, where the provider numbers them. */
  readonly sequence?: number | undefined;
  /** A call of its own, even if nothing tells it from the one before. */
  readonly isOther?: boolean | undefined;
  /** None of ours: the provider runs it. */
  readonly isForeign?: boolean | undefined;
}

/** The pieces in one event of a provider's stream. Never trusts its shape. */
export type DeltaReader = (event: unknown) => readonly CallDelta[];

/** A call as the model made it. Its arguments may be anything. */
export interface StreamedCall {
  readonly id: string;
  /** As the model wrote it. */
  readonly name: string;
  readonly arguments: string;
}
