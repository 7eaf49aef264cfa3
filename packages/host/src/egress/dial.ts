import { connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { KernelError } from "@narthex/contracts";
import { addressBytes } from "./address-class.ts";
import { egressBlocked } from "./egress-blocked-error.ts";
import type { CheckedAddress } from "./resolve-host.ts";

export interface DialOptions {
  readonly host: string;
  readonly port: number;
  readonly connectMs: number;
  /** Trusted CA certificates; those of Node if undefined. */
  readonly authorities: readonly string[] | undefined;
  /** Closes the connection at any point. */
  readonly signal: AbortSignal;
}

/** Connects to an address that was checked, and to no other. */
export async function dial(judged: CheckedAddress, { host, port, connectMs, signal }: DialOptions): Promise<Socket> {
  signal.throwIfAborted();
  const socket = connect({ host: judged.address, port, autoSelectFamily: false, noDelay: true });
  const end = (): void => {
    if (!socket.destroyed) socket.destroy(new Error("it is not wanted any more"));
  };
  signal.addEventListener("abort", end);
  socket.once("close", () => signal.removeEventListener("abort", end));
  return waitForConnection(socket, "connect", connectMs, host, () => {
    // SECURITY: verifies that the connection was made to the checked address, however its text was parsed in between.
    if (!isSame(socket.remoteAddress, judged.address))
      throw egressBlocked("host", `\`${host}\` is somewhere else by now`);
  });
}

/** Connects with TLS: the certificate must match the host. */
export async function dialSecure(judged: CheckedAddress, options: DialOptions): Promise<TLSSocket> {
  const { host, connectMs, authorities } = options;
  const socket = await dial(judged, options);
  const secure = connectTls({
    socket,
    // An IP address cannot be a TLS server name; the certificate is checked nevertheless.
    ...(isName(host) ? { servername: host } : { host }),
    ALPNProtocols: ["http/1.1"],
    minVersion: "TLSv1.2",
    ...(authorities !== undefined && { ca: [...authorities] }),
  });
  return waitForConnection(secure, "secureConnect", connectMs, host, () => undefined);
}

function waitForConnection<S extends Socket>(
  socket: S,
  event: "connect" | "secureConnect",
  connectMs: number,
  host: string,
  check: () => void,
): Promise<S> {
  return new Promise((resolve, reject) => {
    const fail = (fault: unknown): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(fault);
    };
    const timer = setTimeout(() => fail(new KernelError("TIMEOUT", `\`${host}\` did not answer in time`)), connectMs);
    const failed = (cause: Error): void => fail(new KernelError("UPSTREAM_ERROR", explain(cause, host), { cause }));
    socket.once("error", failed);
    socket.once(event, () => {
      clearTimeout(timer);
      socket.off("error", failed);
      // While the socket passes from one owner to the next it has no other error listener, and an error at that moment
      // must not end the process.
      socket.on("error", () => undefined);
      try {
        check();
        resolve(socket);
      } catch (fault) {
        fail(fault);
      }
    });
  });
}

function explain(cause: Error, host: string): string {
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  if (/CERT|SIGNATURE|SELF_SIGNED|ALTNAME|ISSUER/.test(code))
    return `the certificate of \`${host}\` is not valid (${code})`;
  return `\`${host}\` cannot be reached${code === "" ? "" : ` (${code})`}`;
}

function isSame(left: string | undefined, right: string): boolean {
  return left === right || (left !== undefined && Buffer.compare(addressBytes(left), addressBytes(right)) === 0);
}

function isName(host: string): boolean {
  return !host.includes(":") && !/^[\d.]+$/.test(host);
}
