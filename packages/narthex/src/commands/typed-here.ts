import { typedCommand } from "../connect/typed-command.ts";
import type { Invocation } from "./command.ts";

/** What a person types in another terminal to reach the home of this command: `--data` is repeated where it was given. */
export function typedHere({
  options,
  environment,
  home,
}: Pick<Invocation, "options" | "environment" | "home">): string {
  const isElsewhere = options.text("data") !== undefined && environment["NARTHEX_DATA"] === undefined;
  return typedCommand(environment, isElsewhere ? home : undefined);
}
