/**
 * Narthex as the client of the conformance suite: a kernel whose only MCP server is the scenario's, and one call of each
 * tool that the server lists. The suite gives the server's URL as the last word.
 */
import type { JsonObject, JsonValue } from "@narthex/contracts";
import { createMcpHome } from "../../tools/mcp-kernel.ts";

const UNASKED = '@id("suite") @approve("none") permit(principal, action, resource);';
/** A name may lead anywhere, so that one of the loopback is refused; its address is as it was configured. */
const url = (process.argv.at(-1) ?? "").replace("//localhost:", "//127.0.0.1:");
/** The suite's server waits for ever for a form that it was never told this client can show. */
const timeoutMs = process.env["MCP_CONFORMANCE_SCENARIO"]?.startsWith("elicitation-") === true ? 500 : 20_000;
const at = await createMcpHome();
try {
  await at.configure({ suite: { url } });
  await at.start(UNASKED);
  const session = await at.open(["suite"]);
  const tools = at.kernel.listTools({ sessionId: session.session.id, allVersions: false });
  for (const { declaration } of tools.filter(({ declaration: { name } }) => name.startsWith("suite__"))) {
    const input = inputFor(declaration.inputSchema);
    const { result } = (await session.session.call(declaration.name, input, { timeoutMs })).response;
    console.log(declaration.name, result.case, result.case === "error" ? result.value.message : "");
  }
  for (const problem of at.logged.filter(({ level }) => level === "error")) console.log(JSON.stringify(problem));
} finally {
  await at.remove();
}

/** A number for each property that is required. */
function inputFor(schema: JsonValue): JsonObject {
  const required = typeof schema === "object" && schema !== null && !Array.isArray(schema) ? schema["required"] : [];
  return Object.fromEntries((Array.isArray(required) ? required : []).map((name) => [String(name), 2]));
}
