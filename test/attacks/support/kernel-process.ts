/**
 * A kernel on a home of its own, in a process that can be looked at and killed. It prints the path of its services'
 * socket once that is open; the end of its input closes it.
 */
import { createKernel } from "../../doors/socket-kernel.ts";
import { limitedRun, RULES } from "./limited-run.ts";

const [, , home = ""] = process.argv;
const kernel = await createKernel({
  data: home,
  tools: [limitedRun],
  policies: [{ name: "attacks.cedar", text: RULES }],
});
process.stdout.write(`${kernel.sockets.services}\n`);
process.stdin.resume();
process.stdin.once("end", () => void kernel.close({ graceMs: 0 }));
