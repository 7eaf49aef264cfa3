/** An MCP server of a few lines: takes the handshake and lists as many tools as its argument says. */
import { createInterface } from "node:readline";
import { smallTools } from "./small-tools.ts";

const tools = smallTools(Number(process.argv[2]));

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line) as Message;
  const say = (answer: object): void => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  if (method === "initialize") {
    const serverInfo = { name: "small", version: "1.0.0" };
    say({ result: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") say({ result: { tools } });
  else if (id !== undefined)
    say({ error: { code: -32_601, message: "this server lists tools and does nothing else" } });
});
