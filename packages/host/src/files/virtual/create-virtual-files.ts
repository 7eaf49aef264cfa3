import { isUtf8 } from "node:buffer";
import { createBlake3, toHex, utf8 } from "@narthex/contracts";
import type {
  FileResult,
  FileChange,
  FileOperation,
  StoredFileTrace,
  Preimage,
  PreparedOperation,
  ReplayContent,
  WorkspaceFiles,
} from "@narthex/kernel";
import { ServedFromRecord } from "@narthex/kernel";
import { explainFault } from "../explain-fault.ts";
import { describeFault, FileFault } from "../worker/file-fault.ts";
import { findOccurrences, linesOf } from "../worker/find-occurrences.ts";
import { bytesContent, type VirtualContent } from "./virtual-content.ts";
import { ABSENT, stateOf, type VirtualNode, VirtualTree } from "./virtual-tree.ts";

type OperationOf<Kind extends FileOperation["kind"]> = FileOperation & { readonly kind: Kind };

/** What an operation will do, once it is known to be possible. */
interface Plan {
  readonly opened: readonly string[];
  /** Paths that are replaced or deleted. */
  readonly replaced: readonly string[];
  perform(): Promise<FileResult>;
}

const NEW_FILE_MODE = 0o644;
const PERMISSIONS = 0o777;
/** The same limit as for real edits. */
const MAX_FILE_BYTES = 100 * 1024 * 1024;
const MAX_OCCURRENCES = 100_000;
const MAX_LINES = 1000;

/**
 * Creates a workspace in memory with the files that a recorded call read and replaced. The tool's file operations are
 * executed there, and nothing on this machine is accessed, whatever the paths are. A call that needs content that is
 * not in the record is served from its record instead.
 */
export function createVirtualFiles(
  record: StoredFileTrace,
  contentOf: (hash: string) => Promise<ReplayContent | undefined>,
): WorkspaceFiles {
  const tree = new VirtualTree(record, contentOf);
  return {
    async prepare(_place, operation, signal) {
      signal.throwIfAborted();
      try {
        return toPreparedOperation(tree, await planOf(tree, operation));
      } catch (fault) {
        throw fault instanceof FileFault ? explainFault(operation, describeFault(fault)) : fault;
      }
    },
  };
}

function planOf(tree: VirtualTree, operation: FileOperation): Plan | Promise<Plan> {
  switch (operation.kind) {
    case "read":
      return planRead(tree, operation);
    case "write":
      return planWrite(tree, operation);
    case "edit":
      return planEdit(tree, operation);
    case "delete":
      return planDelete(tree, operation);
    case "move":
      return planMove(tree, operation);
    case "list":
    case "inspect":
    case "restore":
      throw new ServedFromRecord("listing");
  }
}

function toPreparedOperation(tree: VirtualTree, { opened, replaced, perform }: Plan): PreparedOperation {
  return {
    opened,
    async *preimages(): AsyncGenerator<Preimage> {
      for (const path of replaced) {
        const node = tree.at(path);
        const content = (): AsyncIterable<Uint8Array> =>
          node.kind === "file" ? node.content.read(0, node.content.size) : emptyContent();
        yield { path, state: stateOf(node), content };
      }
      await Promise.resolve();
    },
    commit: () => perform(),
    abandon: () => Promise.resolve(),
  };
}

function planRead(tree: VirtualTree, { path, offset, limit }: OperationOf<"read">): Plan {
  const real = tree.resolve(path);
  const { content } = requireFile(tree.at(real));
  const rest = Math.max(0, content.size - offset);
  const length = limit === 0 ? rest : Math.min(rest, limit);
  return {
    opened: [real],
    replaced: [],
    perform: () => Promise.resolve({ kind: "read", size: content.size, length, content: content.read(offset, length) }),
  };
}

function planWrite(tree: VirtualTree, { path, mode, content }: OperationOf<"write">): Plan {
  const real = tree.resolve(path);
  const before = tree.at(real);
  if (before.kind !== "absent" && mode === "create_only") throw new FileFault("FILE_EXISTS");
  if (before.kind !== "absent" && before.kind !== "file") throw new FileFault("NOT_A_FILE");
  const missing = tree.missingParents(real);
  return {
    opened: [real],
    replaced: existingPaths(tree, [real]),
    async perform() {
      const isAppended = mode === "append" && before.kind === "file";
      const after = isAppended ? await appendContent(before.content, content) : bytesContent(content);
      return changed([...makeParents(tree, missing), replace(tree, real, after)]);
    },
  };
}

async function planEdit(tree: VirtualTree, operation: OperationOf<"edit">): Promise<Plan> {
  const real = tree.resolve(operation.path);
  const { content } = requireFile(tree.at(real));
  if (content.size > MAX_FILE_BYTES) throw new FileFault("RESOURCE_EXCEEDED", "file-too-large");
  const wanted = Buffer.from(operation.oldContent);
  if (wanted.length === 0) throw new FileFault("INVALID_INPUT", "name");
  const bytes = await wholeOf(content);
  if (!isUtf8(bytes)) throw new FileFault("NOT_TEXT");
  const { count, offsets, starts } = findOccurrences(bytes, wanted, MAX_OCCURRENCES);
  if (count === 0) throw new FileFault("NO_MATCH");
  if (count > 1 && !operation.replaceAll) {
    throw new FileFault("MULTIPLE_MATCHES", "code", { count, lines: [...new Set(linesOf(bytes, starts))] });
  }
  if (offsets.length > MAX_OCCURRENCES) throw new FileFault("RESOURCE_EXCEEDED", "too-many-occurrences");
  const lines = linesOf(bytes, offsets.slice(0, MAX_LINES));
  return {
    opened: [real],
    replaced: [real],
    perform: () => {
      const edited = editedBytes(bytes, offsets, wanted.length, utf8(operation.newContent));
      return Promise.resolve({ ...changed([replace(tree, real, bytesContent(edited))]), lines });
    },
  };
}

function planDelete(tree: VirtualTree, { path: named, recursive }: OperationOf<"delete">): Plan {
  const path = tree.resolve(named);
  const { kind } = tree.at(path);
  if (path === ".") throw new FileFault("INVALID_INPUT", "root");
  if (kind === "absent") throw new FileFault("FILE_NOT_FOUND");
  if (kind === "other") throw new FileFault("NOT_A_FILE");
  const inside = kind === "directory" ? tree.below(path) : [];
  if (inside.length > 0 && !recursive) throw new FileFault("DIRECTORY_NOT_EMPTY");
  const gone = [path, ...inside];
  return {
    opened: [path],
    replaced: gone,
    perform() {
      const changes = gone.map((name): FileChange => ({ path: name, before: stateOf(tree.at(name)), after: ABSENT }));
      for (const name of gone) tree.set(name, ABSENT);
      return Promise.resolve(changed(changes));
    },
  };
}

function planMove(tree: VirtualTree, { source: named, destination: wanted, overwrite }: OperationOf<"move">): Plan {
  const [source, destination] = [tree.resolve(named), tree.resolve(wanted)];
  const [from, to] = [tree.at(source), tree.at(destination)];
  if (source === "." || destination === ".") throw new FileFault("INVALID_INPUT", "root");
  if (from.kind === "absent") throw new FileFault("FILE_NOT_FOUND");
  if (from.kind === "other" || to.kind === "other") throw new FileFault("NOT_A_FILE");
  if (destination.startsWith(`${source}/`)) throw new FileFault("INVALID_INPUT", "into-itself");
  if (to.kind !== "absent") {
    if (!overwrite || destination === source) throw new FileFault("FILE_EXISTS");
    if (to.kind === "directory") throw new FileFault("FILE_EXISTS", "directory-there");
    if (from.kind === "directory") throw new FileFault("NOT_A_DIRECTORY");
  }
  const missing = tree.missingParents(destination);
  return {
    opened: [source, destination],
    replaced: existingPaths(tree, [destination]),
    perform() {
      const [moved, replaced] = [stateOf(from), stateOf(to)];
      const made = makeParents(tree, missing);
      tree.move(source, destination);
      const changes: FileChange[] = [
        { path: source, before: moved, after: ABSENT },
        { path: destination, before: replaced, after: moved },
      ];
      return Promise.resolve(changed([...made, ...changes]));
    },
  };
}

function requireFile(node: VirtualNode): VirtualNode & { readonly kind: "file" } {
  if (node.kind === "file") return node;
  throw new FileFault(node.kind === "absent" ? "FILE_NOT_FOUND" : "NOT_A_FILE");
}

function existingPaths(tree: VirtualTree, paths: readonly string[]): string[] {
  return paths.filter((path) => tree.at(path).kind !== "absent");
}

function makeParents(tree: VirtualTree, missing: readonly string[]): FileChange[] {
  return missing.map((path) => {
    const after = { kind: "directory", mode: 0o755 } as const;
    tree.set(path, after);
    return { path, before: ABSENT, after };
  });
}

function replace(tree: VirtualTree, path: string, content: VirtualContent): FileChange {
  const node = tree.at(path);
  const before = stateOf(node);
  tree.set(path, { kind: "file", content, mode: node.kind === "file" ? node.mode & PERMISSIONS : NEW_FILE_MODE });
  return { path, before, after: stateOf(tree.at(path)) };
}

function changed(changes: readonly FileChange[]): FileResult & { readonly kind: "changed" } {
  return { kind: "changed", changes, lines: [] };
}

/** Appends to a file. Only the hash is computed now; the content is read on demand. */
async function appendContent(before: VirtualContent, content: Uint8Array): Promise<VirtualContent> {
  const hasher = createBlake3();
  for await (const chunk of before.read(0, before.size)) hasher.update(chunk);
  hasher.update(content);
  return {
    size: before.size + content.length,
    hash: toHex(hasher.digest()),
    async *read(offset, length) {
      const end = offset + length;
      if (offset < before.size) yield* before.read(offset, Math.min(end, before.size) - offset);
      if (end > before.size) yield content.subarray(Math.max(0, offset - before.size), end - before.size);
    },
  };
}

function editedBytes(bytes: Buffer, offsets: readonly number[], oldLength: number, text: Uint8Array): Buffer {
  const pieces: Uint8Array[] = [];
  let kept = 0;
  for (const offset of offsets) {
    pieces.push(bytes.subarray(kept, offset), text);
    kept = offset + oldLength;
  }
  return Buffer.concat([...pieces, bytes.subarray(kept)]);
}

async function wholeOf(content: VirtualContent): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of content.read(0, content.size)) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

async function* emptyContent(): AsyncGenerator<Uint8Array> {
  // Yields nothing.
}
