import { type IncomingMessage, request as sendRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import { CommandError } from "../terminal/command-error.ts";
import { isNotListening, unreachable } from "./connection-error.ts";
import { findAdminToken, findSockets } from "./kernel-files.ts";
import { parseErrorBody } from "./service-error.ts";

/** Requests a one-time link to the console from the kernel that holds the home. */
export async function requestConsoleLink(home: string): Promise<string> {
  const { services } = await findSockets(home);
  const response = await post(services, await findAdminToken(home)).catch((error: unknown) => {
    throw isNotListening(error) ? noKernel(home) : unreachable(services, error);
  });
  const body = await buffer(response);
  if (response.statusCode !== 200) throw parseErrorBody(response.statusCode ?? 0, body);
  const { link } = JSON.parse(body.toString()) as { readonly link?: unknown };
  if (typeof link !== "string") throw unreachable(services, "the answer holds no link");
  return link;
}

function post(socketPath: string, token: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { host: "localhost", authorization: `Bearer ${token}` };
    sendRequest({ socketPath, method: "POST", path: "/console/link", headers, agent: false }, resolve)
      .on("error", reject)
      .end();
  });
}

function noKernel(home: string): CommandError {
  return new CommandError("KERNEL_UNREACHABLE", `no kernel holds \`${home}\``, {
    next: "start one with `narthex serve`, which prints such a link as well",
  });
}
