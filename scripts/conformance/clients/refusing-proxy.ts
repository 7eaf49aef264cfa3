import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Keeps clients off the network: refuses every request and records its host. */
export interface RefusingProxy extends AsyncDisposable {
  readonly url: string;
  readonly hosts: ReadonlySet<string>;
}

export async function startRefusingProxy(): Promise<RefusingProxy> {
  const hosts = new Set<string>();
  const server = createServer((request, response) => {
    if (URL.canParse(request.url ?? "")) hosts.add(new URL(request.url ?? "").host);
    response.writeHead(403).end();
  });
  server.on("connect", (request, socket) => {
    hosts.add(request.url ?? "");
    socket.on("error", () => socket.destroy());
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hosts,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
