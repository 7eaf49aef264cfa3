/** Makes the call that is approved, and is killed at a place it was told. */
import { makeApprovedCall } from "./approved-call.ts";

const [, , home = "", notes = "", token = "", place = "", isLate = ""] = process.argv;

await makeApprovedCall({
  home,
  notes,
  token,
  isLate: isLate === "late",
  reach: (reached) => {
    if (reached === place) process.kill(process.pid, "SIGKILL");
  },
});
