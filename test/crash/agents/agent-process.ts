/** Runs the agent, and is killed when it comes to a place for the n-th time: `PLACE N`. */
import { runTheAgent } from "./agent-run.ts";

const [, , home = "", token = "", transcript = "", notes = "", provider = "", place = "", times = ""] = process.argv;
let left = Number(times);

await runTheAgent({
  home,
  token,
  transcript,
  notes,
  provider,
  reach: (reached) => {
    if (reached === place && --left === 0) process.kill(process.pid, "SIGKILL");
  },
});
