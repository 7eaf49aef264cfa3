import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  homePaths,
  loadConfiguration,
  openToolRuntime,
  removeOwnTree,
  type ServerReview,
  reviewServer,
  trustReview,
} from "@narthex/host";
import { tryServicesConnection } from "../connection/open-connection.ts";
import { toMcpServerOptions } from "../home-mcp-servers.ts";
import { openHomeGate } from "../open-home-gate.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { visible } from "../terminal/visible.ts";
import type { Command, Invocation } from "./command.ts";
import { confirm } from "./connect-confirm.ts";

export const toolsTrustCommand: Command = {
  details:
    "Starts the server once, in its sandbox, or asks it over HTTP, and shows how its tools differ from those that were pinned: changed, gone, " +
    "or new, and which were changed earlier and are quarantined since. What you say yes to is pinned; a kernel that runs on the home has it after its next start. Approvals that " +
    "were given for a tool before it changed do not hold for it any more.",
  arguments: [{ name: "<server>", description: "SERVER for all of its tools, or SERVER__TOOL" }],
  options: [
    { flags: "--yes", description: "pin it without asking" },
    { flags: "--dry-run", description: "look only" },
  ],
  examples: ["narthex tools trust github", "narthex tools trust github__create_issue --dry-run"],

  async run(invocation) {
    const { options, terminal, home } = invocation;
    const asked = invocation.arguments[0] ?? "";
    const review = await reviewPinnedServer(invocation, asked);
    if (!terminal.json) show(review, terminal);
    const isWanted =
      review.differences.length + review.quarantined.length > 0 &&
      !options.flag("dry-run") &&
      (options.flag("yes") || (await confirm(invocation)));
    if (isWanted) await trustReview(review);
    const kernel = isWanted ? await tryServicesConnection(home) : undefined;
    await kernel?.close();
    if (terminal.json) {
      terminal.printJson({
        server: review.server,
        differences: review.differences.map((one) => ({ ...one, fields: one.fields.map((field) => ({ ...field })) })),
        quarantined: [...review.quarantined],
        problems: [...review.problems],
        trusted: isWanted,
        restart_needed: kernel !== undefined,
      });
      return EXIT_OK;
    }
    if (isWanted) terminal.print("", "pinned");
    if (kernel !== undefined) terminal.note("a kernel runs on this home: restart it, and its tools are those");
    return EXIT_OK;
  },
};

/** Can run while a kernel holds the home, because its sandboxes use a separate directory. */
async function reviewPinnedServer({ home, environment, signal }: Invocation, asked: string): Promise<ServerReview> {
  const paths = homePaths(home);
  const configuration = await loadConfiguration(paths.configuration);
  const { gate } = await openHomeGate(configuration, environment);
  const scratch = await mkdtemp(join(tmpdir(), "narthex-trust-"));
  const workshop = openToolRuntime({ paths: { ...paths, sandbox: scratch, cache: join(scratch, "cache") } });
  try {
    const { secrets } = configuration;
    const options = { ...toMcpServerOptions(paths, configuration), secrets, environment, taken: new Set<string>() };
    return await reviewServer({ ...options, programs: workshop.programs, egress: gate }, asked, signal);
  } finally {
    await Promise.all([workshop.close(), gate.close()]);
    removeOwnTree(scratch);
  }
}

function show({ server, differences, quarantined, problems }: ServerReview, { print, paint }: Terminal): void {
  for (const { tool, change, fields } of differences) {
    print(`${paint.bold(change)} ${visible(tool)}`);
    for (const { field, pinned, found } of fields) {
      if (pinned !== "") print(visible(`  - ${field}: ${pinned}`));
      if (found !== "") print(visible(`  + ${field}: ${found}`));
    }
  }
  const changed = new Set(differences.map(({ tool }) => tool));
  for (const tool of quarantined) {
    if (!changed.has(tool))
      print(`${paint.bold("quarantined")} ${visible(tool)}: it was changed before, and is now what was pinned`);
  }
  for (const problem of problems) print(visible(`cannot be used: ${problem}`));
  if (differences.length === 0) print(`every tool of ${server} is what was pinned`);
}
