/** A kernel that is gone in the middle of a copy out of its vault: right before it is begun, or right after. */
import { createKernel } from "narthex";
import { vaultRights } from "./vault-kernel.ts";

const [, , home = "", workspace = "", input = "", crashAt = "", rule = ""] = process.argv;

const kernel = await createKernel({
  data: home,
  policies: [{ name: "test.cedar", text: rule }],
  observer: {
    stage(event) {
      if (event.stage === crashAt && event.toolName === "vault_copyto") process.kill(process.pid, "SIGKILL");
    },
  },
});
const session = await kernel.session({ workspace, lease: { capabilities: vaultRights(workspace) } });
console.log(JSON.stringify({ id: session.id, token: session.token }));
const { response } = await session.call("vault_copyto", JSON.parse(input), { requestId: "lost" });
console.error(`the call ended: ${response.result.case}`);
