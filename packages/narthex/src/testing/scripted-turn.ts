import type { JsonValue } from "@narthex/contracts";

/** One message of a model that follows a script: a text, a call, or several at once. */
export type ScriptedTurn =
  | { readonly text: string }
  | ScriptedCall
  | { readonly calls: readonly ScriptedCall[]; readonly text?: string };

export interface ScriptedCall {
  /** The name of a tool. */
  readonly call: string;
  /** An empty object by default. */
  readonly input?: JsonValue;
  /** In the place of `input`: the text as the model would write it, which need not be JSON. */
  readonly arguments?: string;
}

/** A turn with everything in it named. */
export interface ExpandedTurn {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
}

/** `number` keeps the ids of calls apart. */
export function expandTurn(turn: ScriptedTurn, number: number): ExpandedTurn {
  const calls = "calls" in turn ? turn.calls : "call" in turn ? [turn] : [];
  return {
    text: "text" in turn ? (turn.text ?? "") : "",
    calls: calls.map(({ call, input = {}, arguments: text }, index) => ({
      id: `call_${number}_${index}`,
      name: call,
      arguments: text ?? JSON.stringify(input),
    })),
  };
}
