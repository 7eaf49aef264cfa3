export interface ListenAddress {
  /** IP address, never a name; IPv6 without brackets. */
  readonly host: string;
  /** Port number; 0 chooses a free port. */
  readonly port: number;
}

/** Why a text is not a valid address. */
export interface ListenProblem {
  readonly problem: string;
}

const MAX_PORT = 65_535;
const LOOPBACK_V4 = /^127(?:\.(?:0|[1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])){3}$/;

/**
 * Parses "host:port".
 *
 * SECURITY: without TLS, anyone who can reach the socket can read its traffic, including tokens, so only loopback
 * addresses are allowed. `localhost` means 127.0.0.1 and is not resolved: a name server must not decide who can
 * connect.
 */
export function parseListenAddress(text: string): ListenAddress | ListenProblem {
  const parts = /^(\[[^\]]*\]|[^:]*):([0-9]+)$/.exec(text);
  const [, host = "", digits = ""] = parts ?? [];
  if (parts === null || host === "") return { problem: "must be host:port, such as 127.0.0.1:7411 or [::1]:7411" };
  if (!/^(?:0|[1-9][0-9]{0,4})$/.test(digits) || Number(digits) > MAX_PORT) {
    return { problem: `must end in a port from 0 to ${MAX_PORT}` };
  }
  const address = loopbackAddress(host);
  if (address === undefined) {
    return {
      problem:
        "is not a loopback address: narthex has no TLS, so it listens on loopback only; use 127.0.0.1 or [::1], " +
        "with a proxy or an SSH tunnel in front of it",
    };
  }
  return { host: address, port: Number(digits) };
}

function loopbackAddress(host: string): string | undefined {
  if (host === "localhost") return "127.0.0.1";
  if (host === "[::1]") return "::1";
  return LOOPBACK_V4.test(host) ? host : undefined;
}
