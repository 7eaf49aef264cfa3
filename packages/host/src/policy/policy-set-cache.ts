import { access, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { blake3, canonicalJsonBytes, toHex } from "@narthex/contracts";
import type { PolicyFile, PolicySchema } from "@narthex/kernel";
import { loadInThread } from "./load-in-thread.ts";
import { type LoadedPolicySet, loadPolicySet, policySetBytes } from "./load-policy-set.ts";
import { CEDAR_WASM_ENGINE } from "./cedar-wasm-engine.ts";

/** Options for loading a policy set. */
export interface PolicyLoadOptions {
  /** Directory that caches sets that passed validation; no cache by default. */
  readonly directory?: string | undefined;
  /** Read-only directory with cached sets that are shipped with the program. */
  readonly shipped?: string | undefined;
  /** Whether to load in a worker thread: for a kernel that serves calls meanwhile. */
  readonly inThread?: boolean;
}

/** Version of the cache. Increase it whenever the stored shape or the validation changes. */
const FORMAT = 3;
const MAX_CACHED = 8;
const memory = new Map<string, CachedSet>();

interface CachedSet {
  readonly set: LoadedPolicySet;
  readonly isShipped: boolean;
}

/**
 * Loads a policy set, from the cache if it was validated before: loading and checking with Cedar takes some hundred
 * milliseconds, reading the stored result about two. The cache key is the hash of everything that the result depends
 * on.
 *
 * SECURITY: the directory belongs to the home and is as private as the policy itself: write access to it allows
 * changing the rules. The shipped directory is next to the code: write access to it allows changing the code.
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
    // Write it to the directory too: the next process that opens this home has no memory cache.
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

/** Writes a set to the directory, whether or not it is cached already. Throws POLICY_INVALID with every problem. */
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
    // Uses `JSON.parse`: this is the home's own file, and rules may be nested deeper than the limit for untrusted JSON.
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

/** Ignores errors: a set that cannot be cached is loaded again next time. */
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
