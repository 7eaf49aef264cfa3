import type { FramedClient } from "@narthex/server/framed-client";
import type { CallConnection, KernelConnection } from "./kernel-connection.ts";

export interface FramedEndpoint {
  readonly client: FramedClient;
  /** Opens the services connection, only for requests that the framed door does not carry. */
  openServices(): Promise<KernelConnection>;
}

/** Sends calls through the framed door; streamed output, deadlines and large results use the services door. */
export function createFramedConnection({ client, openServices }: FramedEndpoint): CallConnection {
  let services: Promise<KernelConnection> | undefined;
  const useServices = (): Promise<KernelConnection> => {
    services ??= openServices();
    return services;
  };
  return {
    async call(request, options) {
      if (options.onChunk !== undefined || options.timeoutMs !== undefined) {
        return (await useServices()).call(request, options);
      }
      return client.call(request, { signal: options.signal });
    },
    getContent: async (query) => (await useServices()).getContent(query),
    listTools: async (query) => (await useServices()).listTools(query),
    async close() {
      await Promise.all([client.close(), services?.then((opened) => opened.close())]);
    },
  };
}
