import { openHome } from "@narthex/host";
import { prepareHome } from "../prepare-home.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { visible } from "../terminal/visible.ts";
import type { Command } from "./command.ts";

export const initCommand: Command = {
  details: "Overwrites nothing. Other commands do the same themselves where there is no home yet.",
  examples: ["narthex init", "narthex init --data ./kernel-home"],

  async run({ home: path, terminal }) {
    const home = await openHome({ path, command: "init", waitMs: WAIT_MS });
    try {
      const { written } = await prepareHome(home.paths);
      if (terminal.json) {
        terminal.printJson({ home: home.path, written: [...written] });
        return EXIT_OK;
      }
      if (written.length === 0) terminal.print(visible(`${home.path} is set up already; nothing was changed`));
      for (const file of written) terminal.print(visible(`wrote ${file}`));
      terminal.print("", `${terminal.paint.dim("next:")} ${terminal.program} serve --first-session`);
      return EXIT_OK;
    } finally {
      await home.close();
    }
  },
};

const WAIT_MS = 5000;
