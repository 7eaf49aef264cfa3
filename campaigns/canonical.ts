import assert from "node:assert/strict";
import { canonicalJson, canonicalJsonBytes, JsonSyntaxError, parseJson } from "@narthex/contracts";
import canonicalize from "canonicalize";
import type { Campaign } from "./campaign.ts";
import { Chance } from "./chance/chance.ts";
import { Findings } from "./chance/findings.ts";
import { inBatches } from "./chance/in-batches.ts";
import { anyJson } from "./json/any-json.ts";
import { spellJson } from "./json/spell-json.ts";

/** Values whose canonical text has every spelling of theirs for a source. */
export const canonical: Campaign = {
  name: "canonical",
  title:
    "Random JSON values, spelled in any way: all spellings have one canonical text, which is its own, and that of another implementation.",
  unit: "values",
  sample: 10_000,
  full: 2_000_000,
  async run(round) {
    const findings = new Findings();
    await inBatches(round, (number) => {
      const chance = new Chance(round.seed, number);
      const value = anyJson(chance, 4);
      const text = spellJson(chance, value);
      findings.check(
        () => `value ${number}: \`${text}\``,
        () => {
          const form = canonicalJson(value);
          assert.equal(form, canonicalize(value), "not as another implementation writes it");
          assert.equal(canonicalJson(parse(text)), form, "another spelling has another form");
          assert.equal(canonicalJson(parse(form)), form, "the form is not its own");
          assert.deepEqual(parse(canonicalJsonBytes(value)), parse(text), "reads back as another value");
        },
      );
      findings.count("spellings that were not canonical already", text === canonicalJson(value) ? 0 : 1);
    });
    return findings.outcome(round.count);
  },
};

function parse(source: string | Uint8Array) {
  try {
    return parseJson(source);
  } catch (fault) {
    if (fault instanceof JsonSyntaxError) assert.fail(`refused at \`${fault.path}\`: ${fault.message}`);
    throw fault;
  }
}
