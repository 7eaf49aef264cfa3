import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  KernelError,
  type KernelService,
  type PutContentRequest,
  PutContentHeaderSchema,
  create,
} from "@narthex/contracts";
import type { Kernel } from "@narthex/kernel";
import { callerKey } from "./authorization.ts";
import { toToolInfo } from "./tool-info.ts";
import { toHash, toWholeNumber } from "./wire-values.ts";

type ContentMethods = Pick<ServiceImpl<typeof KernelService>, "listTools" | "putContent" | "getContent">;

/** Larger chunks are split: clients of gRPC accept 4 MB by default, and JSON costs time per byte. */
const MAX_CHUNK_BYTES = 64 * 1024;

/** The methods of KernelService that are authenticated by a bearer token. */
export function createContentMethods(kernel: Kernel): ContentMethods {
  return {
    listTools({ allVersions }, context) {
      const caller = context.values.get(callerKey);
      const scope = caller.kind === "session" ? { sessionId: caller.sessionId } : {};
      return { tools: kernel.listTools({ ...scope, allVersions }).map(toToolInfo) };
    },

    async putContent(requests, context) {
      const messages = requests[Symbol.asyncIterator]();
      const first = await messages.next();
      const opening = first.done === true ? undefined : first.value.part;
      const header = opening?.case === "header" ? opening.value : create(PutContentHeaderSchema);
      const receipt = await kernel.putContent({
        sessionId: requireSession(context),
        door: context.protocolName,
        labels: header.labels,
        ...(header.expectedHash.length > 0 ? { expectedHash: toHash(header.expectedHash, "expected_hash") } : {}),
        chunks: chunksOf(opening?.case === "chunk" ? opening.value : undefined, messages),
      });
      return { hash: receipt.hash, size: BigInt(receipt.size), labels: [...receipt.labels] };
    },

    async *getContent(request, context) {
      const hash = toHash(request.hash, "hash");
      const offset = toWholeNumber(request.offset, "offset");
      const limit = toWholeNumber(request.limit, "limit") || Number.MAX_SAFE_INTEGER;
      const caller = context.values.get(callerKey);
      const reading =
        caller.kind === "session"
          ? await kernel.getContent(caller.sessionId, hash, offset, limit)
          : await kernel.readAnyContent(hash, offset, limit);
      const info = { hash: reading.hash, size: BigInt(reading.size), labels: [...reading.labels] };
      yield { part: { case: "info", value: info } };
      for await (const chunk of reading.chunks) {
        for (let at = 0; at < chunk.length; at += MAX_CHUNK_BYTES) {
          yield { part: { case: "chunk", value: chunk.subarray(at, at + MAX_CHUNK_BYTES) } };
        }
      }
    },
  };
}

function requireSession(context: HandlerContext): string {
  const caller = context.values.get(callerKey);
  if (caller.kind !== "session") throw new KernelError("INTERNAL", "no session on a method that needs one");
  return caller.sessionId;
}

async function* chunksOf(
  first: Uint8Array | undefined,
  messages: AsyncIterator<PutContentRequest>,
): AsyncGenerator<Uint8Array> {
  if (first !== undefined) yield first;
  for (;;) {
    const next = await messages.next();
    if (next.done === true) return;
    const { part } = next.value;
    if (part.case !== "chunk") throw new KernelError("INVALID_REQUEST", "after the first message, send chunks only");
    yield part.value;
  }
}
