import { formatNarthexCommand } from "../connect/narthex-command.ts";
import type { Invocation } from "./command.ts";

/** Formats what to type in another terminal to reach the home of this command: `--data` is repeated if it was given. */
export function formatCommandPrefix({
  options,
  environment,
  home,
}: Pick<Invocation, "options" | "environment" | "home">): string {
  const isElsewhere = options.text("data") !== undefined && environment["NARTHEX_DATA"] === undefined;
  return formatNarthexCommand(environment, isElsewhere ? home : undefined);
}
