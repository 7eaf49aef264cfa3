import { KernelError } from "@narthex/contracts";
import type { Capability, PathCapability } from "../../capability/capability.ts";
import { isWithin } from "../../capability/covers.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { absolutePath, workspacePath } from "../../tool/workspace-path.ts";
import type { ToolContext } from "../../tool/tool.ts";
import type { HostFault } from "../../wasm/wasm-runner.ts";
import type { PermittedCall } from "../decide/decide.ts";

type HostCallResult = Uint8Array | HostFault;

const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** The host function `fs_read`: the request is a path, the response the file's bytes. */
export async function readFile(
  call: PermittedCall,
  context: ToolContext,
  request: Uint8Array,
): Promise<HostCallResult> {
  const path = decodeText(request);
  if (path === undefined) return "invalid";
  const place = pathFor(call, context, path, "fs_read");
  const answer = await context.files.run({ kind: "read", path: place, offset: 0, limit: 0 });
  if (answer.kind !== "read") return "failed";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.content) {
    size += chunk.length;
    if (size > MAX_FILE_BYTES) return "too_large";
    // Copied, because the worker may reuse its buffer.
    chunks.push(Uint8Array.from(chunk));
  }
  return Buffer.concat(chunks);
}

/** The host function `fs_write`: the length of the path in four bytes, the path, and the new content of the file. */
export async function writeFile(
  call: PermittedCall,
  context: ToolContext,
  request: Uint8Array,
  kernel: KernelParts,
): Promise<HostCallResult> {
  const parts = splitHead(request);
  const path = parts && decodeText(parts.head);
  if (parts === undefined || path === undefined) return "invalid";
  const place = pathFor(call, context, path, "fs_write");
  const { trustedPaths, isProtected } = kernel;
  const trusted = await trustedPaths?.inspect(call.live.session.workspace, [place]);
  if ((isProtected(place) || trusted?.isTrusted(place) === true) && !kernel.mayChangeProtected(call, kernel)) {
    const message = `\`${call.registered.id}\` tried to change \`${place}\`, which is protected, and no rule lets it`;
    throw new KernelError("UNDECLARED_EFFECT", message);
  }
  await context.files.run({ kind: "write", path: place, content: parts.rest, mode: "replace" });
  return new Uint8Array(0);
}

/** Returns a path relative to the workspace's root; throws unless the call's grant covers it. */
function pathFor(call: PermittedCall, { session }: ToolContext, path: string, kind: PathCapability["kind"]): string {
  if (!call.effects.includes(kind)) {
    throw new KernelError("UNDECLARED_EFFECT", `\`${call.registered.id}\` did not declare the effect \`${kind}\``);
  }
  const right: Capability = { kind, prefixes: [absolutePath(path, session)] };
  if (!isWithin([right], call.needed)) throw new KernelError("PATH_ESCAPE", "the grant does not cover the path");
  return workspacePath(path, session);
}

/** Splits a request into a head, which follows its length in four little-endian bytes, and the rest. */
export function splitHead(request: Uint8Array): { readonly head: Uint8Array; readonly rest: Uint8Array } | undefined {
  if (request.length < 4) return undefined;
  const length = new DataView(request.buffer, request.byteOffset).getUint32(0, true);
  if (length > request.length - 4) return undefined;
  return { head: request.subarray(4, 4 + length), rest: request.subarray(4 + length) };
}

export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
