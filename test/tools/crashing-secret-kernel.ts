/** A kernel that is killed while a call with a secret in its input is under way. */
import { createKernel } from "narthex";
import { vaultRights } from "./vault-kernel.ts";

const [, , home = "", workspace = "", rule = ""] = process.argv;
const chunks: Buffer[] = [];
for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
const input = JSON.parse(Buffer.concat(chunks).toString());

const kernel = await createKernel({
  data: home,
  policies: [{ name: "test.cedar", text: rule }],
  observer: {
    stage(event) {
      if (event.stage === "keep" && event.toolName === "file_write") process.kill(process.pid, "SIGKILL");
    },
  },
});
const session = await kernel.session({ workspace, lease: { capabilities: vaultRights(workspace) } });
console.log(session.token);
await session.call("file_write", input, { requestId: "lost" });
