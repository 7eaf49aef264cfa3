import { access, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { blake3, canonicalJsonBytes, toHex } from "@narthex/contracts";
import type { PolicyFile, PolicySchema } from "@narthex/kernel";
import { loadInThread } from "./load-in-thread.ts";
import { type LoadedPolicySet, loadPolicySet, policySetBytes } from "./load-policy-set.ts";
import { CEDAR_WASM_ENGINE } from "./cedar-wasm-engine.ts";

/** How a set is read. */
export interface PolicyLoadOptions {
  /** Where sets that were found valid are kept; nowhere by default. */
  readonly directory?: string | undefined;
  /** Where those lie that came with the program: nothing is written there. */
  readonly shipped?: string | undefined;
  /** Beside the thread that calls: for a kernel that serves meanwhile. */
  readonly inThread?: boolean;
}

/** Another number whenever what is kept changes its shape, or what is refused changes. */
const FORMAT = 3;
const MAX_CACHED = 8;
const memory = new Map<string, CachedSet>();

interface CachedSet {
  readonly set: LoadedPolicySet;
  readonly isShipped: boolean;
}

/**
 * A set that was read and validated before needs no second time: Cedar takes some hundred milliseconds to load and to check
 * it, the same result some two to read. Kept by the hash of all that it depends on.
 *
 * SECURITY: the directory is the home's own, and as private as the policy itself: whoever can write there can write rules.
 * What is shipped lies with the code: whoever can write there can write the code.
 */
export async function loadCachedSet(
  files: readonly PolicyFile[],
  schema: PolicySchema,
  { directory, shipped, inThread = false }: PolicyLoadOptions,
): Promise<LoadedPolicySet> {
  const bytes = policySetBytes(files);
  const key = keyOf(bytes, schema);
  const known = memory.get(key);
  if (known !== undefined) {
    // The next process to open this home does not know it yet.
    if (!known.isShipped && directory !== undefined && !(await isCached(directory, key)))
      await tryToCache(directory, key, known.set);
    return remember(key, known);
  }
  const kept = await readCached(directory, key, bytes);
  if (kept !== undefined) return remember(key, { set: kept, isShipped: false });
  const ready = await readCached(shipped, key, bytes);
  if (ready !== undefined) return remember(key, { set: ready, isShipped: true });
  const set = await (inThread ? loadInThread(files, schema) : loadPolicySet(files, schema));
  await tryToCache(directory, key, set);
  return remember(key, { set, isShipped: false });
}

/** Keeps a set there, known or not. Throws POLICY_INVALID with every problem. */
export async function cachePolicySet(
  files: readonly PolicyFile[],
  schema: PolicySchema,
  directory: string,
): Promise<void> {
  const loaded = await loadCachedSet(files, schema, {});
  await writeCached(directory, keyOf(loaded.bytes, schema), loaded);
}

function keyOf(bytes: Uint8Array, schema: PolicySchema): string {
  return toHex(blake3(canonicalJsonBytes([FORMAT, CEDAR_WASM_ENGINE, toHex(blake3(bytes)), toHex(schema.hash)])));
}

function remember(key: string, known: CachedSet): LoadedPolicySet {
  memory.delete(key);
  memory.set(key, known);
  const [oldest] = memory.keys();
  if (memory.size > MAX_CACHED && oldest !== undefined) memory.delete(oldest);
  return known.set;
}

async function readCached(
  directory: string | undefined,
  key: string,
  bytes: Uint8Array,
): Promise<LoadedPolicySet | undefined> {
  if (directory === undefined) return undefined;
  try {
    // The home's own file: rules may be nested deeper than anybody else's JSON.
    const kept = JSON.parse(await readFile(join(directory, `${key}.json`), "utf8")) as LoadedPolicySet;
    const { rules, policies, warnings } = kept;
    const isWhole = [rules, policies, warnings].every(Array.isArray) && policies.length === rules.length;
    return isWhole ? { rules, policies, warnings, bytes } : undefined;
  } catch {
    return undefined;
  }
}

function isCached(directory: string, key: string): Promise<boolean> {
  return access(join(directory, `${key}.json`)).then(
    () => true,
    () => false,
  );
}

/** What cannot be kept is read again next time. */
async function tryToCache(directory: string | undefined, key: string, set: LoadedPolicySet): Promise<void> {
  if (directory !== undefined) await writeCached(directory, key, set).catch(() => undefined);
}

async function writeCached(
  directory: string,
  key: string,
  { rules, policies, warnings }: LoadedPolicySet,
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, `${key}.json`);
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, JSON.stringify({ rules, policies, warnings }), { mode: 0o600 });
  await rename(draft, file);
  for (const path of (await newestFirst(directory)).slice(MAX_CACHED)) await rm(path, { force: true });
}

async function newestFirst(directory: string): Promise<string[]> {
  const paths = (await readdir(directory)).map((name) => join(directory, name));
  const dated = await Promise.all(paths.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
  return dated.sort((first, second) => second.at - first.at).map(({ path }) => path);
}
