import { requestConsoleLink } from "../connection/console-link.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Command } from "./command.ts";

export const consoleCommand: Command = {
  details:
    "The page is served by `narthex serve` on its port. Each link signs one person in, once, within ten minutes; " +
    "a sign-in lasts twelve hours or until the kernel stops.",
  examples: ["narthex console"],

  async run({ home, terminal }) {
    const link = await requestConsoleLink(home);
    if (terminal.json) terminal.printJson({ link });
    else terminal.print(link);
    return EXIT_OK;
  },
};
