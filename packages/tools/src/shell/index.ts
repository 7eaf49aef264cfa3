export {
  type AssignmentFacts,
  type CommandFacts,
  commandFacts,
  type ProgramFacts,
  type RedirectionFacts,
  type RedirectionMode,
} from "./command-facts.ts";
export { shellExec } from "./shell-exec.ts";
export { shellInput } from "./shell-input.ts";
export { shellKill } from "./shell-kill.ts";
export { shellOutput } from "./shell-output.ts";
export { shellSpawn } from "./shell-spawn.ts";
