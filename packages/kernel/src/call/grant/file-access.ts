import { ContentPlace, ContentRole, createBlake3, KernelError, toHex } from "@narthex/contracts";
import { isWithin } from "../../capability/covers.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { commitContent } from "../../ledger/commitment.ts";
import { HashPreservingCollector } from "../../result/hash-preserving-collector.ts";
import type { FileAccess } from "../../tool/tool.ts";
import type { FileResult, FileOperation, Preimage, PreparedOperation } from "../../workspace-files.ts";
import { chargeContent } from "../charge-stored.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { FileTrace } from "../file-trace.ts";
import { callProtectedPaths } from "../call-protected-paths.ts";
import { redactorsForRecord } from "../call-redactors.ts";
import { recordPlacedFile } from "../record-placed-file.ts";
import { adoptLabels } from "../adopt-labels.ts";
import { withEffect, withoutNoChangeClaim } from "../with-effect.ts";
import { SECRET } from "../../label/secret-label.ts";
import type { ProtectedPaths } from "../../policy/protected-paths.ts";
import type { TrustedPathsClaim } from "../../trusted-paths.ts";

/**
 * Creates file access for one call, to the workspace of its session.
 *
 * SECURITY: the path that was decided on is the path that is opened: opened files are reported first, and where a link
 * led elsewhere the call is decided again. The previous content of a file is kept before the file is changed.
 */
export function createFileAccess(
  call: PermittedCall,
  guard: () => void,
  signal: () => AbortSignal,
  kernel: KernelParts,
): FileAccess {
  const { trail } = call;
  const { workspace } = call.live.session;
  const operate = async (operation: FileOperation): Promise<FileResult> => {
    guard();
    const prepared = await prepare(call, operation, signal(), kernel);
    let claim: TrustedPathsClaim | undefined;
    try {
      guard();
      const wasProtected = callProtectedPaths(call, kernel);
      if (changesFiles(operation)) claim = await kernel.trustedPaths?.claim(workspace, prepared.opened);
      if (claim !== undefined) trail.trustedPathsSnapshot = claim;
      guard();
      decideOnOpened(call, operation, prepared, wasProtected, kernel);
      if (bringsContent(operation) && areSecret([...namedPaths(operation), ...prepared.opened], kernel)) {
        await adoptLabels(call, [SECRET], kernel);
        guard();
      }
      const paths = [...namedPaths(operation), ...prepared.opened];
      if (bringsContent(operation) && paths.some((path) => isPlaced(call, path, kernel))) withhold(call);
      trail.fileTrace ??= new FileTrace();
      for (const [index, named] of namedPaths(operation).entries()) {
        const opened = prepared.opened[index];
        if (opened !== undefined && opened !== named) trail.fileTrace.resolvedLinks.set(named, opened);
      }
      const found: string[] = [];
      for await (const preimage of prepared.preimages()) {
        if (callProtectedPaths(call, kernel)(preimage.path)) found.push(preimage.path);
        await keepPreimage(call, preimage, kernel);
      }
      guard();
      decideOnProtected(call, [...namedPaths(operation), ...prepared.opened], found, kernel);
    } catch (fault) {
      claim?.release();
      await prepared.abandon();
      throw fault;
    }
    if (changesFiles(operation)) allowProtected(call, prepared, kernel);
    if (operation.kind === "move") await noteMoved(call, prepared, kernel);
    const commit = (): Promise<FileResult> => prepared.commit().finally(() => claim?.release());
    const answer = await (changesFiles(operation) ? withEffect(trail, commit) : commit());
    if (answer.kind === "changed") trail.fileTrace.changes.push(...answer.changes);
    return answer.kind === "read"
      ? { ...answer, content: traceReading(trail.fileTrace, operation, prepared, answer) }
      : answer;
  };
  return {
    run: (operation) =>
      operate(operation).catch((fault: unknown) => {
        throw withoutNoChangeClaim(fault);
      }),
    async locateDirectory(path) {
      guard();
      const operation = { kind: "list", path, depth: 1, glob: undefined, hidden: true, limit: 1 } as const;
      const prepared = await prepare(call, operation, signal(), kernel);
      await prepared.abandon();
      decideOnOpened(call, operation, prepared, callProtectedPaths(call, kernel), kernel);
      return prepared.opened[0] ?? path;
    },
    noteReading(path) {
      guard();
      if (areSecret([path], kernel)) trail.addLabels([SECRET]);
      if (isPlaced(call, path, kernel)) withhold(call);
    },
  };
}

function prepare(
  call: PermittedCall,
  operation: FileOperation,
  signal: AbortSignal,
  kernel: KernelParts,
): Promise<PreparedOperation> {
  const access = changesFiles(operation) ? "write" : "read";
  const effect = access === "write" ? "fs_write" : "fs_read";
  if (!call.effects.includes(effect)) {
    throw new KernelError("UNDECLARED_EFFECT", `\`${call.registered.id}\` did not declare the effect \`${effect}\``);
  }
  const { files } = kernel;
  if (files === undefined) throw new KernelError("SANDBOX_UNAVAILABLE", "this kernel has no files to work on");
  return files.prepare({ workspace: call.live.session.workspace, access }, operation, signal);
}

/** INVARIANT: only changes that a rule permits get this far. */
function allowProtected(call: PermittedCall, { opened }: PreparedOperation, kernel: KernelParts): void {
  const isProtected = callProtectedPaths(call, kernel);
  for (const path of opened) {
    if (isProtected(path)) kernel.programs?.allowChange(call.live.session.workspace, path);
  }
}

function changesFiles({ kind }: FileOperation): boolean {
  return kind !== "read" && kind !== "list" && kind !== "inspect";
}

/**
 * Whether an operation reveals content: content that is read can be passed on, and a moved file can be read under a
 * name that does not count as secret.
 */
function bringsContent({ kind }: FileOperation): boolean {
  return kind === "read" || kind === "edit" || kind === "move";
}

function isPlaced({ live }: PermittedCall, path: string, kernel: KernelParts): boolean {
  return kernel.placedFiles.has(live.session.workspace, path);
}

/** Records the new path of a moved file that the vault placed: it stays a file of the vault. */
async function noteMoved(call: PermittedCall, { opened }: PreparedOperation, kernel: KernelParts): Promise<void> {
  const [source, destination] = opened;
  if (source === undefined || destination === undefined) return;
  await recordPlacedFile(call, kernel.placedFiles.addMoved(call.live.session.workspace, source, destination), kernel);
}

/** Keeps content that the vault placed out of storage: both what is read of it and what is said about it. */
function withhold({ trail }: PermittedCall): void {
  trail.isWithheld = true;
  trail.isRedacted = true;
}

function areSecret(paths: readonly string[], kernel: KernelParts): boolean {
  return paths.some((path) => kernel.isSecret(path));
}

/** Returns the paths that the operation names, as they were decided on. */
function namedPaths(operation: FileOperation): readonly string[] {
  return operation.kind === "move" ? [operation.source, operation.destination] : [operation.path];
}

function decideOnOpened(
  call: PermittedCall,
  operation: FileOperation,
  { opened }: PreparedOperation,
  wasProtected: ProtectedPaths,
  kernel: KernelParts,
): void {
  const named = namedPaths(operation);
  const isProtected = callProtectedPaths(call, kernel);
  const { workspace } = call.live.session;
  const absolute = (path: string): string => (path === "." ? workspace : `${workspace}/${path}`);
  const isChange = changesFiles(operation);
  const kind = isChange ? "fs_write" : "fs_read";
  // If the call was decided on with the whole workspace, only protected paths need another decision.
  const isDecided = (path: string): boolean =>
    !(isChange && isProtected(path)) && isWithin([{ kind, prefixes: [absolute(path)] }], call.needed);
  // SECURITY: the workspace may have changed since the decision, through another call or while a user was asked.
  const isProtectedNow = (path: string): boolean => isChange && isProtected(path) && !wasProtected(path);
  const undecided = opened.filter((path) => isProtectedNow(path) || (!named.includes(path) && !isDecided(path)));
  if (undecided.length === 0) return;
  const prefixes = undecided.map(absolute);
  kernel.redecide(call, [{ kind, prefixes }], kernel);
}

/** SECURITY: removing or moving a directory affects protected paths in it that the call did not name. */
function decideOnProtected(
  call: PermittedCall,
  decided: readonly string[],
  found: readonly string[],
  kernel: KernelParts,
): void {
  const known = decided.filter(callProtectedPaths(call, kernel));
  const prefixes: string[] = [];
  for (const path of found) {
    if (known.some((parent) => path === parent || path.startsWith(`${parent}/`))) continue;
    known.push(path);
    prefixes.push(`${call.live.session.workspace}/${path}`);
  }
  if (prefixes.length > 0) kernel.redecide(call, [{ kind: "fs_write", prefixes }], kernel);
}

async function keepPreimage(call: PermittedCall, preimage: Preimage, kernel: KernelParts): Promise<void> {
  const { state } = preimage;
  if (state.kind !== "file") return;
  const { trail } = call;
  const collector = new HashPreservingCollector({
    store: kernel.contentStore,
    charge: (bytes) => chargeContent(call, bytes),
    redactors: redactorsForRecord(call, kernel),
    isWithheld: trail.vaultDestination !== preimage.path && isPlaced(call, preimage.path, kernel),
  });
  try {
    for await (const chunk of preimage.content()) await collector.write(chunk);
    const { digest, size, place, head, held } = await collector.finish();
    if (toHex(digest) !== state.hash) {
      throw new KernelError("SANDBOX_ERROR", `\`${preimage.path}\` changed while it was read`);
    }
    const bytes = place === ContentPlace.ROW ? { bytes: head } : {};
    const committed = commitContent({ role: ContentRole.PREIMAGE, digest, size, place, ...bytes }, kernel.random);
    trail.attach(committed.item);
    trail.fileTrace?.preimages.push(committed);
    if (place === ContentPlace.NONE) trail.keepUnstored({ digest, size, head, bytes: held });
  } catch (fault) {
    await collector.abort();
    throw fault;
  }
}

/**
 * Hashes content as it is read, and holds it for a while. If the reader stops early, the trace covers what it has read
 * so far.
 */
async function* traceReading(
  log: FileTrace,
  operation: FileOperation,
  { opened }: PreparedOperation,
  { content, size: of }: FileResult & { readonly kind: "read" },
): AsyncGenerator<Uint8Array> {
  const hasher = createBlake3();
  let held: Uint8Array[] | undefined = [];
  let size = 0;
  try {
    for await (const chunk of content) {
      hasher.update(chunk);
      size += chunk.length;
      if (log.hold(chunk.length)) held?.push(Buffer.from(chunk));
      else held = undefined;
      yield chunk;
    }
  } finally {
    const offset = operation.kind === "read" ? operation.offset : 0;
    const bytes = held?.length === 1 ? held[0] : held && Buffer.concat(held);
    log.readings.push({ path: opened[0] ?? "", offset, size, hash: toHex(hasher.digest()), of, bytes });
  }
}
