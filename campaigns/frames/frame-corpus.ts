import { canonicalJson, fromBinary, type ToolRequest, ToolRequestSchema } from "@narthex/contracts";
import { Chance } from "../chance/chance.ts";
import { anyJson } from "../json/any-json.ts";
import { spellJson } from "../json/spell-json.ts";
import { anyMessage } from "../wire/any-message.ts";

export interface FrameCorpus {
  /** JSON texts, each with the text that its value is answered in. */
  readonly inputs: readonly { readonly text: Uint8Array; readonly canonical: string }[];
  readonly tools: readonly ToolRequest["tool"][];
}

const SIZE = 2000;

/** What streams are made of: made once, since making it for each frame would cost more than sending it. */
export function makeFrameCorpus(seed: number): FrameCorpus {
  const chance = new Chance(seed, -1);
  return {
    inputs: Array.from({ length: SIZE }, () => {
      const value = anyJson(chance, 2);
      return { text: Buffer.from(spellJson(chance, value)), canonical: canonicalJson(value) };
    }),
    tools: Array.from(
      { length: SIZE },
      () => fromBinary(ToolRequestSchema, anyMessage(chance, ToolRequestSchema)).tool,
    ),
  };
}
