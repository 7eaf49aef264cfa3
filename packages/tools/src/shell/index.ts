export {
  type AssignmentFacts,
  type CommandFacts,
  commandFacts,
  type ProgramFacts,
  type RedirectionFacts,
  type RedirectionMode,
} from "./command-facts.ts";
export { shellExec } from "./shell-exec.ts";
