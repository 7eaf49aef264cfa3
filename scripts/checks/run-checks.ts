import { print, runSteps } from "./run-steps.ts";
import { STEPS } from "./steps.ts";

/** `npm test`: every step, or only those named on the command line. */
const BUDGET_MS = 600_000;

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !STEPS.some((step) => step.name === name));
if (unknown.length > 0) {
  print(`no step is called \`${unknown.join("`, `")}\`; there are: ${STEPS.map((step) => step.name).join(", ")}`);
  process.exitCode = 2;
} else {
  process.exitCode = await runSteps(
    STEPS.filter((step) => chosen.length === 0 || chosen.includes(step.name)),
    BUDGET_MS,
  );
}
