import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { isJsonObject, type JsonObject, parseJson } from "@narthex/contracts";
import type { AgentClient, RunMode } from "./agent-client.ts";
import { type ClientRun, type Script, startClient } from "./client-run.ts";
import { CheckFailure, excerpt } from "./outcome.ts";
import { findEnvironments, signalProcess, waitFor } from "./processes.ts";
import { createProject } from "./project.ts";
import { type FinishedCommand, runAlone } from "./run-alone.ts";

const LOOPBACK = "127.0.0.1,localhost,::1";

/** A user's home with a project in it, for testing one client. */
export interface Site extends AsyncDisposable {
  readonly client: AgentClient;
  readonly root: string;
  readonly project: string;
  /** The result of `narthex connect`. */
  readonly connected: FinishedCommand;
  /** Files that `narthex connect` left in the project. */
  readonly connectedFiles: readonly string[];
  /** Runs `narthex` as the user would in the project. */
  narthex(...words: readonly string[]): Promise<FinishedCommand>;
  /** Runs it with `--json` and returns the printed object; fails if the exit code is not 0. */
  ask(...words: readonly string[]): Promise<JsonObject>;
  git(...words: readonly string[]): Promise<string>;
  /** Starts the client on a script. */
  start(script: Script, mode?: RunMode): Promise<ClientRun>;
  /** The process that holds the kernel's home. */
  kernelProcess(): Promise<number | undefined>;
}

export interface SiteTools {
  /** The built `narthex` command, a file to run on this Node. */
  readonly narthex: string;
  /** Path of the client. */
  readonly program: string;
  readonly proxyUrl: string;
  /** Whether the folder is kept after the run. */
  readonly isKept: boolean;
}

export async function createSite(client: AgentClient, tools: SiteTools): Promise<Site> {
  // The name appears in prompts, in which checks look for narthex's own words.
  const root = await mkdtemp(join(tmpdir(), `coding-agent-${client.name}-`));
  // Programs of a kernel that runs as root run as another user, who must be able to enter the folder.
  await chmod(root, 0o711);
  const home = join(root, "home");
  const project = join(root, "project");
  for (const folder of [home, project, join(root, "tmp")]) await mkdir(folder);
  // An adopted project no longer belongs to root, and git requires root to accept that.
  const accepted = `[safe]\n\tdirectory = ${project}\n`;
  await writeFile(join(home, ".gitconfig"), `[user]\n\tname = Someone\n\temail = someone@example.org\n${accepted}`);
  const environment = userEnvironment(root, home, tools.proxyUrl);
  await createProject(project, environment);

  const narthex = (...words: readonly string[]): Promise<FinishedCommand> =>
    runAlone(process.execPath, [tools.narthex, ...words], project, environment);
  const started = new Set<ClientRun>();
  // If root runs the suite, as in a container, the project belongs to root, which requires the user's consent.
  const consent = process.getuid?.() === 0 ? ["--adopt"] : [];
  const connected = await narthex("connect", client.name, "--yes", ...consent);
  if (client.acceptServer !== undefined) {
    await client.prepare({ home, project, modelUrl: "" });
    await runAlone(tools.program, client.acceptServer, project, environment);
  }
  const connectedFiles = await listUntracked(project, environment);
  return {
    client,
    root,
    project,
    connected,
    connectedFiles,
    narthex,
    async ask(...words) {
      const { code, stdout, stderr } = await narthex(...words, "--json");
      if (code !== 0)
        throw new CheckFailure(`narthex ${words.join(" ")} ended with ${code}: ${excerpt(stderr || stdout)}`);
      const value = parseJson(stdout);
      return isJsonObject(value) ? value : {};
    },
    async git(...words) {
      const { code, stdout, stderr } = await runAlone("git", words, project, environment);
      if (code !== 0) throw new CheckFailure(`git ${words.join(" ")} ended with ${code}: ${excerpt(stderr)}`);
      return stdout;
    },
    async start(script, mode) {
      const place = {
        program: tools.program,
        project,
        environment,
        async prepare(modelUrl: string) {
          await client.prepare({ home, project, modelUrl });
          return client.environment({ home, project, modelUrl });
        },
      };
      const run = await startClient(client, place, script, mode);
      started.add(run);
      return run;
    },
    async kernelProcess() {
      const text = await readFile(join(home, ".narthex/run/holder.json"), "utf8").catch(() => "null");
      const holder = parseJson(text);
      const pid = isJsonObject(holder) ? holder["pid"] : undefined;
      return typeof pid === "number" ? pid : undefined;
    },
    async [Symbol.asyncDispose]() {
      for (const [index, run] of [...started].entries()) {
        if (tools.isKept) await writeFile(join(root, `run-${index + 1}.json`), JSON.stringify(run.turns, undefined, 2));
        await run[Symbol.asyncDispose]();
      }
      await endProcesses(root);
      if (!tools.isKept) await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Files of the project that are not in its repository, including ignored ones. */
async function listUntracked(project: string, environment: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const { stdout } = await runAlone("git", ["ls-files", "--others"], project, environment);
  return stdout.split("\n").filter((line) => line !== "");
}

/**
 * Ends processes that clients and kernels of this site left running: all have the site's folder in their environment.
 */
async function endProcesses(root: string): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    for (const pid of await findEnvironments(root)) signalProcess(pid, signal);
    const isOver = await waitFor(async () => ((await findEnvironments(root)).length === 0 ? true : undefined), 5000);
    if (isOver === true) return;
  }
}

/** A user's variables and nothing of this process's own: no tokens, no client settings, no network. */
function userEnvironment(root: string, home: string, proxyUrl: string): NodeJS.ProcessEnv {
  const path = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
  return {
    PATH: path,
    HOME: home,
    TMPDIR: join(root, "tmp"),
    LANG: "C.UTF-8",
    TERM: "dumb",
    NO_COLOR: "1",
    DO_NOT_TRACK: "1",
    http_proxy: proxyUrl,
    https_proxy: proxyUrl,
    HTTP_PROXY: proxyUrl,
    HTTPS_PROXY: proxyUrl,
    no_proxy: LOOPBACK,
    NO_PROXY: LOOPBACK,
  };
}
