import { chainVectors } from "./chain-vectors.ts";
import { digestVectors } from "./digest-vectors.ts";
import { encodingVectors } from "./encoding-vectors.ts";
import { logVectors } from "./log-vectors.ts";
import { canonicalJsonVectors, refusedJsonVectors } from "./json-vectors.ts";
import { sessionVectors } from "./session-vectors.ts";

/** The text of every vector file, by its name below vectors/. */
export async function makeVectors(): Promise<ReadonlyMap<string, string>> {
  const vectors = new Map<string, unknown>([
    ["encoding/requests.json", encodingVectors()],
    ["canonical-json/values.json", canonicalJsonVectors()],
    ["canonical-json/refused.json", refusedJsonVectors()],
    ["digests.json", digestVectors()],
    ["session-digest.json", sessionVectors()],
    ...(await chainVectors()),
    ...(await logVectors()),
  ]);
  return new Map([...vectors].map(([name, value]) => [name, `${JSON.stringify(value, undefined, 2)}\n`]));
}
