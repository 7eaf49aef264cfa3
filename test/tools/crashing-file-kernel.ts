/** A kernel that is gone in the middle of a call: right before its tool is started, or right after it has ended. */
import { createKernel } from "narthex";

const [, , home = "", workspace = "", tool = "", input = "", crashAt = ""] = process.argv;

const kernel = await createKernel({
  data: home,
  observer: {
    stage(event) {
      if (event.stage === crashAt && event.toolName === tool) process.kill(process.pid, "SIGKILL");
    },
  },
});
const session = await kernel.session({ workspace });
console.log(session.token);
const { response } = await session.callTool(tool, JSON.parse(input), { requestId: "lost" });
console.error(`the call ended: ${response.result.case}`);
