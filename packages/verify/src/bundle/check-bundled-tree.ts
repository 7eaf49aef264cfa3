import { equalBytes } from "@narthex/contracts";
import { isSignedBy, parseCheckpoint } from "../merkle/checkpoint.ts";
import { KeyHistory } from "../merkle/key-history.ts";
import type { VerifierKey } from "../merkle/verifier-key.ts";
import type { TreeReport } from "../merkle/tree-report.ts";
import type { ProblemCode } from "../problem.ts";
import { readBundledKeys } from "./bundled-keys.ts";
import type { Bundle } from "./open-bundle.ts";
import { computeBundleRoot } from "./compute-bundle-root.ts";

/** What a checkpoint proves about a session's records without the records between them. */
export interface BundledTreeFindings {
  readonly log: TreeReport;
  readonly unprovenTail: number;
  readonly problems: readonly { readonly code: ProblemCode; readonly message: string }[];
}

/**
 * Checks that the session's records are leaves of the signed tree: they and the bundled sibling hashes must give its
 * root. SPEC: docs/formats/bundle.md, "Tree".
 */
export async function checkBundledTree(bundle: Bundle, trusted: VerifierKey | undefined): Promise<BundledTreeFindings> {
  const { tree } = bundle;
  const { keys, problem } = readBundledKeys(tree.keys);
  const problems: { code: ProblemCode; message: string }[] = [];
  if (problem !== "")
    problems.push({ code: "log_key_broken", message: `the announcement of a key is not good: ${problem}` });
  const history = new KeyHistory(trusted);
  for (const key of keys) history.take(key);
  if (!history.isTrusted && history.lostTrust !== undefined) {
    const message = "a key was begun that the trusted one did not hand over to: it was said to be lost";
    problems.push({ code: "log_key_lost", message });
  } else if (trusted !== undefined && !history.isTrusted) {
    problems.push({ code: "log_key_untrusted", message: "nothing in the bundle leads to the trusted key" });
  }
  const believed = history.trustedKeys;
  const { size, root } = await provenTree(bundle, believed, problems);
  const inside = size === 0 ? 0 : await countInside(bundle, size);
  return {
    log: {
      origin: history.current?.name ?? "",
      verifierKey: history.current?.text ?? "",
      keyTrusted: trusted !== undefined && history.isTrusted,
      keys: keys.length,
      ...history.losses,
      checkpoints: size === 0 ? 0 : 1,
      provenSize: size,
      provenRoot: root,
      keptCheckpoints: 0,
      tiles: 0,
      tilesMissing: 0,
    },
    unprovenTail: bundle.records - inside,
    problems,
  };
}

const NOTHING_PROVEN = { size: 0, root: new Uint8Array(0) };

async function provenTree(
  { tree, source }: Bundle,
  believed: readonly VerifierKey[],
  problems: { code: ProblemCode; message: string }[],
): Promise<{ readonly size: number; readonly root: Uint8Array }> {
  if (tree.checkpoint === undefined) return NOTHING_PROVEN;
  const checkpoint = parseCheckpoint(tree.checkpoint);
  if (checkpoint === undefined) {
    problems.push({ code: "checkpoint_broken", message: "the bundle's checkpoint is no checkpoint" });
    return NOTHING_PROVEN;
  }
  if (!believed.some((key) => isSignedBy(checkpoint, key))) {
    problems.push({ code: "checkpoint_signature", message: "no key that can be believed has signed the checkpoint" });
    return NOTHING_PROVEN;
  }
  // A session that began after the checkpoint has no records in its tree.
  if (tree.tree.length === 0 && (await isEmptyBelow(source.records(), checkpoint.size))) return NOTHING_PROVEN;
  const root = await computeBundleRoot(checkpoint.size, source.records(), tree.file, tree.tree);
  if (root !== undefined && equalBytes(root, checkpoint.root)) return { size: checkpoint.size, root };
  problems.push({ code: "checkpoint_root", message: "the records do not give the root that was signed" });
  return NOTHING_PROVEN;
}

async function isEmptyBelow(rows: AsyncIterable<{ readonly index: number }>, size: number): Promise<boolean> {
  for await (const { index } of rows) return index >= size;
  return true;
}

async function countInside({ source }: Bundle, size: number): Promise<number> {
  let inside = 0;
  for await (const { index } of source.records()) {
    if (index >= size) break;
    inside++;
  }
  return inside;
}
