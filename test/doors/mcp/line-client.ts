import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { JsonObject } from "@narthex/contracts";
import { ended, parseObject, type Running } from "../../cli/home.ts";

/** An MCP client by hand, one message to a line. Calls may run at once. */
export interface LineClient {
  readonly child: Running;
  /** The result as JSON text. */
  call(name: string, input: JsonObject): Promise<string>;
  /** Hangs up and gives the exit code. */
  leave(): Promise<number | null>;
}

/** Greets the server that a process is. */
export async function connectLines(child: Running): Promise<LineClient> {
  const waiting = new Map<unknown, (answer: JsonObject) => void>();
  const problems = text(child.stderr).catch(() => "");
  const gone = ended(child).then(async () => assert.fail(`the server has ended: ${await problems}`));
  gone.catch(() => undefined);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = parseObject(line);
    waiting.get(message["id"])?.(message);
  });
  child.stdin.on("error", () => undefined);
  let id = 0;
  const send = (message: JsonObject): boolean =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const request = async (method: string, params: JsonObject): Promise<string> => {
    id += 1;
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    waiting.set(id, resolve);
    send({ id, method, params });
    return JSON.stringify(await Promise.race([promise, gone]));
  };
  const clientInfo = { name: "lines", version: "1" };
  await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  return {
    child,
    call: (name, input) => request("tools/call", { name, arguments: input }),
    leave() {
      child.stdin.end();
      return ended(child);
    },
  };
}
