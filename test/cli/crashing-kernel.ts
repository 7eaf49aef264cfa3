/** A kernel with a tool whose effect never ends: whoever starts this kills it in the middle. */
import { createKernel, defineTool } from "narthex";

const [, , home = "", workspace = ""] = process.argv;

const risky = defineTool({
  name: "risky",
  description: "Begins an effect and never ends.",
  inputSchema: true,
  effects: ["artifact"],
  capabilities: [{ kind: "artifact", names: [] }],
  tier: "side_effecting",
  run: () => {
    console.log("running");
    setInterval(() => undefined, 1000);
    return new Promise<never>(() => undefined);
  },
});

const kernel = await createKernel({
  data: home,
  tools: [risky],
  policies: [{ name: "risky.cedar", text: '@id("risky") permit(principal, action == Action::"risky", resource);' }],
});
const session = await kernel.session({ workspace });
console.log(session.id);
const { response } = await session.call("risky", {}, { requestId: "risky" });
console.error(`the call ended: ${JSON.stringify(response.result.value)}`);
