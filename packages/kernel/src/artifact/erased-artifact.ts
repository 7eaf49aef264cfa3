import { canonicalJsonBytes, isJsonObject, parseJson } from "@narthex/contracts";
import type { StateChange, Store } from "../ports.ts";
import { artifactKey } from "./artifacts.ts";

/** Returns the change that removes the content hash of an erased artifact. The id stays taken. */
export async function eraseArtifact(tenant: string, artifactId: string, store: Store): Promise<StateChange[]> {
  const key = artifactKey(tenant, artifactId);
  const row = await store.getState("artifacts", key);
  const value = row === undefined ? undefined : parseJson(row);
  if (value === undefined || !isJsonObject(value)) return [];
  return [{ table: "artifacts", key, value: canonicalJsonBytes({ ...value, content_hash: "" }) }];
}
