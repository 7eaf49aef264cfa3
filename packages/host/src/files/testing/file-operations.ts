import assert from "node:assert/strict";
import { blake3, isKernelError, toHex } from "@narthex/contracts";
import type { FileResult, FileChange, FileOperation, FileState, ListedEntry, Preimage } from "@narthex/kernel";
import type { ScratchWorkspace } from "./scratch-workspace.ts";

type Answer<Kind extends FileResult["kind"]> = FileResult & { readonly kind: Kind };

/** Creates operations with the usual defaults. */
export const read = (path: string, offset = 0, limit = 0): FileOperation => ({ kind: "read", path, offset, limit });
export const write = (
  path: string,
  text: string,
  mode: "replace" | "create_only" | "append" = "replace",
): FileOperation => ({
  kind: "write",
  path,
  content: Buffer.from(text),
  mode,
});
export const edit = (path: string, oldContent: string, newContent: string, replaceAll = false): FileOperation => ({
  kind: "edit",
  path,
  oldContent,
  newContent,
  replaceAll,
});
export const remove = (path: string, recursive = false): FileOperation => ({ kind: "delete", path, recursive });
export const move = (source: string, destination: string, overwrite = false): FileOperation => ({
  kind: "move",
  source,
  destination,
  overwrite,
});
export const list = (path: string, options: Partial<FileOperation & { kind: "list" }> = {}): FileOperation => ({
  kind: "list",
  path,
  depth: 1,
  glob: undefined,
  hidden: false,
  limit: 1000,
  ...options,
});
export const inspect = (path: string): FileOperation => ({ kind: "inspect", path });

export async function runAs<Kind extends FileResult["kind"]>(
  scratch: ScratchWorkspace,
  kind: Kind,
  operation: FileOperation,
): Promise<Answer<Kind>> {
  const answer = await scratch.run(operation);
  assert.equal(answer.kind, kind);
  return answer as Answer<Kind>;
}

export async function readText(scratch: ScratchWorkspace, path: string, offset = 0, limit = 0): Promise<string> {
  const answer = await runAs(scratch, "read", read(path, offset, limit));
  const bytes = await gather(answer.content);
  assert.equal(bytes.length, answer.length);
  return bytes.toString();
}

export async function listNames(scratch: ScratchWorkspace, operation: FileOperation): Promise<string[]> {
  return (await runAs(scratch, "list", operation)).entries.map(({ name }: ListedEntry) => name);
}

export async function change(scratch: ScratchWorkspace, operation: FileOperation): Promise<readonly FileChange[]> {
  return (await runAs(scratch, "changed", operation)).changes;
}

export async function stateAt(scratch: ScratchWorkspace, path: string): Promise<FileState> {
  return (await runAs(scratch, "inspect", inspect(path))).state;
}

export async function gather(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** Returns everything that an operation would replace, with its bytes, then abandons it. */
export async function gatherPreimages(
  scratch: ScratchWorkspace,
  operation: FileOperation,
): Promise<Array<readonly [path: string, state: FileState, text: string]>> {
  const prepared = await scratch.prepare(operation);
  const found: Array<readonly [string, FileState, string]> = [];
  for await (const preimage of prepared.preimages()) found.push(await describePreimage(preimage));
  await prepared.abandon();
  return found;
}

async function describePreimage(preimage: Preimage): Promise<readonly [string, FileState, string]> {
  return [preimage.path, preimage.state, (await gather(preimage.content())).toString()];
}

export function fileState(text: string | Buffer, mode = 0o644): FileState {
  const bytes = Buffer.from(text);
  return { kind: "file", hash: toHex(blake3(bytes)), size: bytes.length, mode };
}

export async function assertFails(promise: Promise<unknown>, code: string, message = /./): Promise<void> {
  await assert.rejects(promise, (fault: unknown) => {
    assert.ok(isKernelError(fault), String(fault));
    assert.equal(fault.code, code, fault.message);
    assert.match(fault.message, message);
    return true;
  });
}
