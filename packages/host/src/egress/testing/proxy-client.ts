import { type Agent, type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { dirname } from "node:path";
import type { TestContext } from "node:test";
import type { EgressProxy } from "@narthex/kernel";
import { createEgressGate, type EgressGateOptions } from "../create-egress-gate.ts";
import { type TestPass, testPass, type TestPassOptions } from "./test-pass.ts";

export interface ProxyResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ProxyRequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Replaces the credential of the call; empty for no credential. */
  readonly credential?: string;
  readonly agent?: Agent;
}

export interface OpenedProxy extends EgressProxy {
  readonly pass: TestPass;
  /** Directory of the gate, for the sockets of all its proxies. */
  readonly folder: string;
  closeGate(): Promise<void>;
  /** The secret word of the call, as it appears in paths. */
  readonly word: string;
  /** Sends one request as a program's client does. */
  ask(target: string, asking?: ProxyRequestOptions): Promise<ProxyResponse>;
  /** Opens a raw connection to the proxy. */
  dial(): Socket;
  /** Returns the head of a CONNECT request with the credential of the call. */
  connectHead(authority: string): string;
}

/** Opens a proxy that closes when the test ends. */
export async function openTestProxy(
  t: TestContext,
  passOptions: TestPassOptions = {},
  gateOptions: EgressGateOptions = {},
): Promise<OpenedProxy> {
  const pass = testPass(passOptions);
  const gate = createEgressGate(gateOptions);
  const proxy = await gate.openProxy(pass);
  const { socketPath, credential: own } = proxy;
  const dialled = new Set<Socket>();
  t.after(async () => {
    for (const socket of dialled) socket.destroy();
    await gate.close();
  });
  return {
    ...proxy,
    pass,
    closeGate: () => gate.close(),
    folder: dirname(dirname(socketPath)),
    word: own.slice(own.indexOf(":") + 1),
    ask: (target, asking) => ask(socketPath, target, { credential: own, ...asking }),
    dial() {
      const socket = connect({ path: socketPath, allowHalfOpen: true });
      socket.on("error", () => socket.destroy());
      dialled.add(socket);
      return socket;
    },
    connectHead: (authority) => `CONNECT ${authority} HTTP/1.1\r\nhost: x\r\n${proxyHeader(own)}\r\n\r\n`,
  };
}

export function proxyHeader(credential: string): string {
  return `proxy-authorization: Basic ${Buffer.from(credential).toString("base64")}`;
}

function ask(socketPath: string, path: string, { credential = "", method = "GET", ...rest }: ProxyRequestOptions) {
  const { headers = {}, body, agent } = rest;
  const said =
    credential === "" ? {} : { "proxy-authorization": `Basic ${Buffer.from(credential).toString("base64")}` };
  return new Promise<ProxyResponse>((resolve, reject) => {
    const sent = httpRequest(
      { socketPath, path, method, agent, headers: { host: "x", ...said, ...headers } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => {
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: Buffer.concat(chunks).toString("latin1"),
          });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Reads everything until the other side ends. */
export async function hearAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await new Promise<void>((resolve) => {
    socket.once("end", resolve);
    socket.once("close", () => resolve());
  });
  return Buffer.concat(chunks).toString("latin1");
}

/** Reads until the received text contains `end`. */
export function hearUntil(socket: Socket, end: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = "";
    const take = (chunk: Buffer): void => {
      heard += chunk.toString("latin1");
      if (!heard.includes(end)) return;
      socket.off("data", take);
      socket.pause();
      resolve(heard);
    };
    socket.on("data", take);
    socket.once("close", () => reject(new Error(`the connection ended after: ${heard}`)));
  });
}
