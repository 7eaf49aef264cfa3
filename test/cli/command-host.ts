/** A process that runs command lines one after the other, each with its own directory, environment and streams. */
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import type { HostedAnswer, HostedCommand } from "./hosted-commands.ts";

interface Cli {
  runCli(argv: readonly string[]): Promise<number>;
}

const program = process.argv[2] ?? "";
const folder = join(dirname(program), "..");
const sources = join(folder, "src/cli.ts");
enableCompileCache(join(folder, "node_modules/.cache"));
const { runCli } = (await import(
  pathToFileURL(existsSync(sources) ? sources : join(folder, "dist/cli.js")).href
)) as Cli;

process.on("message", (command) => void answer(command as HostedCommand));

async function answer({ args, stdin, directory, environment }: HostedCommand): Promise<void> {
  process.chdir(directory);
  for (const name of Object.keys(process.env)) if (environment[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(environment)) if (value !== undefined) process.env[name] = value;
  process.argv = [process.execPath, program, ...args];
  const [stdout, stderr] = [createCollector(), createCollector()];
  const streams = {
    stdin: Readable.from(stdin.length === 0 ? [] : [stdin]),
    stdout: stdout.stream,
    stderr: stderr.stream,
  };
  for (const [name, value] of Object.entries(streams)) {
    Object.defineProperty(process, name, { value, configurable: true });
  }
  const code = await runCli(args);
  const done: HostedAnswer = { code, stdout: stdout.text(), stderr: stderr.text() };
  process.send?.(done);
}

function createCollector(): { readonly stream: Writable; text(): string } {
  const chunks: Uint8Array[] = [];
  const stream = new Writable({
    write(chunk: Uint8Array, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString("utf8") };
}
