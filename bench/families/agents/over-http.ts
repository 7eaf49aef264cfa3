import { buildCommand } from "../../../scripts/build/build-command.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { bareOverHttp } from "./bare/bare-server.ts";
import { compareRates } from "./compare-rates.ts";
import { narthexOverHttp } from "./narthex-server.ts";

/** The published `narthex mcp --http` beside a server of the MCP SDK alone. */
export const overHttp: Measurement = async (bench) => {
  const { directory } = bench;
  await using built = await buildCommand();
  const { program } = built;
  const pairs = {
    ours: await narthexOverHttp({ program, directory, revision: "current" }),
    bare: await bareOverHttp("current"),
    oursBefore: await narthexOverHttp({ program, directory, revision: "previous" }),
    bareBefore: await bareOverHttp("previous"),
  };
  const names = ["MCP SDK v2, createMcpHandler", "MCP SDK v2, one server to a session, JSON answers"] as const;
  return {
    ...(await compareRates(bench, { over: "HTTP", pairs, bar: 0.8, names })),
    notes: [
      "MCP over HTTP: in the previous revision ours answers by event streams that can be taken up again; of the SDK's " +
        "ways the fastest is beside it, which cannot",
    ],
  };
};
