import { execFile } from "node:child_process";
import { chown, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildCommand } from "../../../scripts/build/build-command.ts";
import { type Measurement, NotMeasured } from "../../harness/measurement.ts";
import { connectStdio } from "./connect-client.ts";
import { openPlace, type Place, WORKSPACE_OWNER } from "./open-place.ts";

const MAX_SECONDS = 60;
const REPOSITORIES = 2;
const run = promisify(execFile);

interface ClientConfiguration {
  readonly mcpServers: { readonly narthex: { readonly command: string; readonly args: readonly string[] } };
}

/** From `narthex connect` in a repository, without a home, to the first answer that its client has of a contained tool. */
export const firstCall: Measurement = async ({ directory }) => {
  await using built = await buildCommand();
  const seconds: number[] = [];
  for (let made = 0; made < REPOSITORIES; made++) {
    const place = await openPlace(directory, `repository-${made}`);
    await makeRepository(place);
    const startedMs = performance.now();
    await connectAndCall(built.program, place);
    seconds.push((performance.now() - startedMs) / 1000);
  }
  return {
    rows: [
      {
        what: "from `narthex connect` in a new repository to the first `file_read` by its client",
        ours: { value: Math.max(...seconds), unit: "s" },
        bar: { of: "ours", limit: "at most", value: MAX_SECONDS },
        picture: "from connect to the first call, s",
      },
    ],
    raw: { "ours, s": seconds },
    notes: ["first call: the slower of two repositories; the command starts in the first without a compile cache"],
  };
};

async function makeRepository({ workspace, env }: Place): Promise<void> {
  await run("git", ["init", "--quiet", workspace], { env }).catch(() => {
    throw new NotMeasured("there is no git");
  });
  const file = join(workspace, "README.md");
  await writeFile(file, "# A new repository\n");
  if (process.getuid?.() === 0) await chown(file, WORKSPACE_OWNER, WORKSPACE_OWNER);
}

async function connectAndCall(program: string, { workspace, env }: Place): Promise<void> {
  await run(process.execPath, [program, "connect", "claude", "--yes"], { cwd: workspace, env });
  const text = await readFile(join(workspace, ".mcp.json"), "utf8");
  const { command, args } = (JSON.parse(text) as ClientConfiguration).mcpServers.narthex;
  if (command !== process.execPath) throw new Error(`the client would start ${command}`);
  const client = await connectStdio(args, "previous", { PATH: env["PATH"] ?? "", HOME: env["HOME"] ?? "" });
  const answer = await client.callTool({ name: "file_read", arguments: { path: "README.md" } });
  if (answer.isError === true) throw new Error(`file_read answered ${JSON.stringify(answer.content)}`);
  await client.close();
}
