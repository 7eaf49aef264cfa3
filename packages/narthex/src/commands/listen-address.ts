import { usageError } from "../terminal/command-error.ts";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Parses `HOST:PORT`, with an IPv6 address in brackets; port 0 takes a free port. */
export function parseListenAddress(text: string): ListenAddress {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65535) {
    throw usageError(`--listen takes HOST:PORT, such as 127.0.0.1:7411, not \`${text.slice(0, 60)}\``);
  }
  // Not resolved: a DNS server must not decide who can connect.
  return { host: host === "localhost" ? "127.0.0.1" : host, port };
}

export function formatListenAddress({ host, port }: ListenAddress): string {
  return host.includes(":") ? `http://[${host}]:${port}` : `http://${host}:${port}`;
}
