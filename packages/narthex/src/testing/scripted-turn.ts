import type { JsonValue } from "@narthex/contracts";

/** One message of a scripted model: a text, a call, or several at once. */
export type ScriptedTurn =
  | { readonly text: string }
  | ScriptedCall
  | { readonly calls: readonly ScriptedCall[]; readonly text?: string };

export interface ScriptedCall {
  /** Name of a tool. */
  readonly call: string;
  /** An empty object by default. */
  readonly input?: JsonValue;
  /** Used instead of `input`: raw text as a model would write it, which need not be JSON. */
  readonly arguments?: string;
}

/** A turn with all its fields. */
export interface ExpandedTurn {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
}

/** `number` keeps the ids of calls unique. */
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
