import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildCommand } from "../../build/build-command.ts";
import { REPOSITORY } from "../../checks/run-tool.ts";
import type { AgentClient } from "./agent-client.ts";
import { clientCache, installClient } from "./install-client.ts";
import { startRefusingProxy } from "./refusing-proxy.ts";
import { runChecks } from "./run-checks.ts";
import { createSite } from "./site.ts";
import { HELP, parseSuiteOptions, type SuiteOptions } from "./suite-options.ts";
import { type ClientReport, isProblem, listRemarks, showMarkdown, showTable } from "./suite-table.ts";

/** The page into which `--write` writes the table, between two marker lines. */
const PAGE = join(REPOSITORY, "docs/clients.md");
const BEGIN = "<!-- table: npm run conformance:clients -- --write -->";
const END = "<!-- end of table -->";

process.exitCode = await runCommand(process.argv.slice(2));

async function runCommand(words: readonly string[]): Promise<number> {
  let options: SuiteOptions | undefined;
  try {
    options = parseSuiteOptions(words);
  } catch (fault) {
    console.error(`error: ${fault instanceof Error ? fault.message : String(fault)}`);
    console.error("next:  npm run conformance:clients -- --help");
    return 2;
  }
  if (options === undefined) {
    console.log(HELP);
    return 0;
  }
  return runSuite(options);
}

async function runSuite(options: SuiteOptions): Promise<number> {
  const { clients, checks, isWritten } = options;
  // Tests pass the command that they have already built.
  const built = process.env["NARTHEX_TEST_COMMAND"];
  await using command =
    built === undefined ? await buildCommand() : { program: built, async [Symbol.asyncDispose]() {} };
  const reports: ClientReport[] = [];
  for (const client of clients) reports.push(await runClient(client, command.program, options));
  console.log(`\n${showTable(reports, checks)}`);
  const remarks = listRemarks(reports, checks);
  if (remarks.length > 0) console.log(`\n${remarks.join("\n")}`);
  if (isWritten) await writePage(showMarkdown(reports, checks));
  return reports.some(isProblem) ? 1 : 0;
}

async function runClient(client: AgentClient, narthex: string, options: SuiteOptions): Promise<ClientReport> {
  console.log(`${client.title} ${client.version}`);
  const installation = await installClient(client, clientCache());
  if ("problem" in installation) {
    console.log(`  could not be installed: ${installation.problem}`);
    return { client, result: installation };
  }
  await using proxy = await startRefusingProxy();
  const { program } = installation;
  await using site = await createSite(client, { narthex, program, proxyUrl: proxy.url, isKept: options.isKept });
  let since = performance.now();
  const result = await runChecks(site, options.checks, ({ name }, outcome) => {
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    since = performance.now();
    const reason = outcome.kind === "pass" ? outcome.note : outcome.reason;
    console.log(
      `  ${name.padEnd(13)}  ${outcome.kind.padEnd(11)}  ${seconds.padStart(5)} s  ${reason ?? ""}`.trimEnd(),
    );
  });
  if (proxy.hosts.size > 0) console.log(`  refused: ${[...proxy.hosts].join(", ")}`);
  if (options.isKept) console.log(`  kept: ${site.root}`);
  return { client, result };
}

async function writePage(table: string): Promise<void> {
  const page = await readFile(PAGE, "utf8");
  const [before, rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  await writeFile(PAGE, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
}
