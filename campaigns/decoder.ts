import type { Campaign } from "./campaign.ts";
import { Chance } from "./chance/chance.ts";
import { Findings } from "./chance/findings.ts";
import { inBatches } from "./chance/in-batches.ts";
import { DECODERS, type DecoderUnderTest } from "./decoder/decoders.ts";

/** Messages of each type that mutations start from; large enough that splices differ. */
const CORPUS_SIZE = 400;

/** Mutated bytes into everything that reads bytes from outside. */
export const decoder: Campaign = {
  name: "decoder",
  title:
    "Mutated messages and JSON texts into every reader: refused by its one error type, or accepted with one meaning that encodes again to the canonical bytes.",
  unit: "inputs",
  sample: 8000,
  full: 2_000_000,
  async run(round) {
    const findings = new Findings();
    const corpora = DECODERS.map((reader, index) => makeCorpus(reader, new Chance(round.seed, -1 - index)));
    await inBatches(round, (number) => {
      const chance = new Chance(round.seed, number);
      const index = chance.below(DECODERS.length);
      const reader = DECODERS[index] as DecoderUnderTest;
      const corpus = corpora[index] ?? [];
      const input = reader.mutate(chance, chance.pick(corpus), chance.pick(corpus));
      findings.check(
        () => `${reader.name}, input ${number}: ${Buffer.from(input).toString("hex").slice(0, 1000)}`,
        () => findings.count(`${reader.name}: ${reader.check(input)}`),
      );
    });
    return findings.outcome(round.count);
  },
};

function makeCorpus(reader: DecoderUnderTest, chance: Chance): readonly Uint8Array[] {
  return Array.from({ length: CORPUS_SIZE }, () => reader.make(chance));
}
