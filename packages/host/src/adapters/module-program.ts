import { realpath } from "node:fs/promises";
import type { ProgramContent, ProgramFile } from "@narthex/kernel";
import { runModule } from "./module-runner.ts";
import type { ProgramPin } from "./program-pin.ts";

const NODE_PATH = "/opt/node/bin/node";
const RUNNER_PATH = "/opt/narthex/run-module.mjs";

/** Node strips the types itself; its warning about that is of no use to the user. */
const NODE_OPTIONS = ["--disable-warning=ExperimentalWarning"];

/** Returns the command that runs one tool of a module. */
export function moduleCommand(pin: ProgramPin, directory: string, tool: string): string[] {
  return [NODE_PATH, ...NODE_OPTIONS, RUNNER_PATH, modulePath(pin, directory), "run", tool];
}

/** Returns the command that describes the tools that a module exports. */
export function describeCommand(pin: ProgramPin, directory: string): string[] {
  return [NODE_PATH, ...NODE_OPTIONS, RUNNER_PATH, modulePath(pin, directory), "describe"];
}

/** Files of the Node that runs the kernel. */
export async function moduleFiles(): Promise<ProgramFile[]> {
  return [{ source: await realpath(process.execPath), target: NODE_PATH }];
}

/** What a module needs in the sandbox besides its own file. */
export function moduleContents(directory: string): ProgramContent[] {
  const text = (target: string, content: string): ProgramContent => ({
    target,
    bytes: Buffer.from(content),
    isExecutable: false,
  });
  return [
    text(RUNNER_PATH, `await (${runModule.toString()})();\n`),
    text(`${directory}/package.json`, '{ "type": "module" }\n'),
  ];
}

function modulePath({ command }: ProgramPin, directory: string): string {
  const [word] = command;
  return `${directory}/${word !== undefined && "file" in word ? word.file : ""}`;
}
