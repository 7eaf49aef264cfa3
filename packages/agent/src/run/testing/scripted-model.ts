import type { AgentMessage } from "../../model/agent-message.ts";
import type { ModelClient, ModelEvent, ModelRequest } from "../../model/model-client.ts";

/** One message of a model that follows a script. */
export type ScriptedTurn = readonly ModelEvent[] | ((request: ModelRequest) => AsyncIterable<ModelEvent>);

export interface ScriptedModel extends ModelClient {
  /** The requests it received, one per turn. */
  readonly requests: { readonly messages: readonly AgentMessage[]; readonly tools: readonly string[] }[];
}

/** Creates a model that plays one turn after the other and repeats the last one. */
export function createScriptedModel(...turns: ScriptedTurn[]): ScriptedModel {
  const requests: ScriptedModel["requests"] = [];
  return {
    requests,
    async *stream(request) {
      const turn = turns[Math.min(requests.length, turns.length - 1)] ?? [];
      requests.push({ messages: [...request.messages], tools: request.tools.map(({ name }) => name) });
      yield* typeof turn === "function" ? turn(request) : turn;
    },
  };
}

let made = 0;

/** A message with these calls, each with a name and arguments. */
export function calling(...calls: readonly (readonly [name: string, input: unknown])[]): ModelEvent[] {
  return [
    {
      type: "calls",
      calls: calls.map(([name, input]) => ({
        id: `call_${made++}`,
        name,
        arguments: typeof input === "string" ? input : JSON.stringify(input),
      })),
    },
  ];
}

export function saying(text: string): ModelEvent[] {
  return [{ type: "text", text }];
}
