import type { ToolRequest, ToolResponse } from "@narthex/contracts";
import { connectFramed, type FramedClient } from "@narthex/server/framed-client";
import type { SocketKernel } from "../../doors/socket-kernel.ts";

/** A connection to the framed socket, with the requests that wait for an answer on it. */
interface Connection {
  readonly client: Promise<FramedClient>;
  readonly waiting: Set<string>;
}

const connections = new WeakMap<SocketKernel, Connection[]>();

/** Sends a request over a connection that is kept as long as the kernel, or a further one where its id is in use. */
export async function callFramed(kernel: SocketKernel, request: ToolRequest): Promise<ToolResponse> {
  const { requestId } = request;
  const open = connections.get(kernel) ?? [];
  connections.set(kernel, open);
  let connection = open.find(({ waiting }) => !waiting.has(requestId));
  if (connection === undefined) {
    connection = { client: connectFramed(kernel.sockets.framed), waiting: new Set() };
    open.push(connection);
  }
  connection.waiting.add(requestId);
  try {
    return await (await connection.client).call(request);
  } finally {
    connection.waiting.delete(requestId);
  }
}
