import { buildCommand } from "../../../scripts/build/build-command.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { bareOverStdio } from "./bare/bare-server.ts";
import { compareRates } from "./compare-rates.ts";
import { narthexOverStdio } from "./narthex-server.ts";

const SDK = "MCP SDK v2, serveStdio";

/** The published `narthex mcp` beside a server of the MCP SDK alone, each started by its client. */
export const overStdio: Measurement = async (bench) => {
  const { directory } = bench;
  await using built = await buildCommand();
  const { program } = built;
  const pairs = {
    ours: await narthexOverStdio({ program, directory, revision: "current" }),
    bare: await bareOverStdio("current"),
    oursBefore: await narthexOverStdio({ program, directory, revision: "previous" }),
    bareBefore: await bareOverStdio("previous"),
  };
  return await compareRates(bench, { over: "stdio", pairs, bar: 0.5, names: [SDK, SDK] });
};
