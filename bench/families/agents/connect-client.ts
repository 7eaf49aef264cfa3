import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** The two revisions of the protocol, as a client asks for them. */
const MODES = { current: "auto", previous: "legacy" } as const;

export type Revision = keyof typeof MODES;

/** A server that its client starts: a program on this Node, with no other environment than this. */
export function connectStdio(
  words: readonly string[],
  revision: Revision,
  env: Readonly<Record<string, string>> = { PATH: process.env["PATH"] ?? "" },
): Promise<Client> {
  const transport = new StdioClientTransport({ command: process.execPath, args: [...words], env: { ...env } });
  return connect(transport, revision);
}

export function connectHttp(url: string, token: string, revision: Revision): Promise<Client> {
  const headers = { authorization: `Bearer ${token}` };
  return connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }), revision);
}

async function connect(transport: Transport, revision: Revision): Promise<Client> {
  const client = new Client({ name: "bench", version: "1.0.0" }, { versionNegotiation: { mode: MODES[revision] } });
  await client.connect(transport);
  return client;
}
