import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isKernelError } from "@narthex/contracts";
import type { FileResult, FileOperation } from "@narthex/kernel";
import { SandboxFiles } from "../../sandbox/sandbox-machine.ts";
import { spawnSandbox } from "../../sandbox/spawn-sandbox.ts";
import { FILE_WORKER_COMMAND, fileWorkerPlan, type WorkerPlace } from "../start-file-worker.ts";
import { edit, gather, list, move, read, remove, write } from "./file-operations.ts";
import { createScratchWorkspace, type ScratchWorkspace, testMachine } from "./scratch-workspace.ts";

export interface SwapRaceOptions {
  /** Number of operations. */
  readonly tries: number;
  /**
   * Whether the files outside are also mounted into the sandbox, where a link could reach them. Then only the way in
   * which paths are walked keeps operations inside.
   */
  readonly canary: "mounted" | "outside";
  /** Called between operations; throwing ends the race. */
  progress?(done: number): void;
}

export interface SwapRaceOutcome {
  readonly tries: number;
  /** How often operations ended with each result: `done`, or an error code. */
  readonly ends: ReadonlyMap<string, number>;
  /** How often a plain read of the same path returned content from outside. Above zero, the race is real. */
  readonly fooled: number;
  /** Descriptions of everything that must not happen. */
  readonly escapes: readonly string[];
}

const LANES = 8;
const CHECK_EVERY = 50;
const RACER = fileURLToPath(new URL("./swap-racer.py", import.meta.url));
const CANARY = "this lies outside";
const INSIDE = "this lies inside";
/** Any other result is a failure. */
const HARMLESS = new Set(["done", "PATH_ESCAPE", "FILE_NOT_FOUND", "FILE_EXISTS", "EXECUTION_FAILED", "NO_MATCH"]);

/**
 * Works on a directory and a file that another process continuously swaps with links to the outside. Every operation
 * must end inside, or fail.
 */
export async function raceAgainstSwaps(options: SwapRaceOptions): Promise<SwapRaceOutcome> {
  let canary = "";
  await using scratch = await createScratchWorkspace({
    start: (place) => startWithCanary(place, scratch.directory, options.canary === "mounted" ? canary : undefined),
  });
  canary = await makeCanary(scratch);
  await makePairs(scratch, canary);
  const racer = await startRacer(scratch);
  const race = new Race(scratch, canary, options);
  try {
    await Promise.all(Array.from({ length: LANES }, (_, lane) => race.run(lane)));
    await race.checkCanary();
    return race.outcome();
  } finally {
    racer.kill("SIGKILL");
    await once(racer, "exit");
  }
}

class Race {
  readonly #scratch: ScratchWorkspace;
  readonly #canary: string;
  readonly #options: SwapRaceOptions;
  readonly #ends = new Map<string, number>();
  readonly #escapes: string[] = [];
  #tries = 0;
  #fooled = 0;

  constructor(scratch: ScratchWorkspace, canary: string, options: SwapRaceOptions) {
    this.#scratch = scratch;
    this.#canary = canary;
    this.#options = options;
  }

  async run(lane: number): Promise<void> {
    const operations = operationsOf(lane);
    while (this.#tries < this.#options.tries) {
      const operation = operations[this.#tries++ % operations.length];
      if (operation === undefined) return;
      const end = await this.#try(operation);
      this.#ends.set(end, (this.#ends.get(end) ?? 0) + 1);
      if (!HARMLESS.has(end)) this.#escapes.push(`${operation.kind} ended with ${end}`);
      this.#readPlainly();
      this.#options.progress?.(this.#tries);
      if (this.#tries % CHECK_EVERY === 0) await this.checkCanary();
    }
  }

  /** Verifies that nothing outside was changed, deleted or added. */
  async checkCanary(): Promise<void> {
    const names = (await readdir(this.#canary)).sort();
    if (names.join() !== "only-outside,target,victim") this.#escapes.push(`outside there are ${names.join()}`);
    for (const name of ["target", "victim"]) {
      const text = await readFile(join(this.#canary, name), "utf8").catch(String);
      if (text !== CANARY) this.#escapes.push(`outside, ${name} is now ${text}`);
    }
  }

  outcome(): SwapRaceOutcome {
    return { tries: this.#tries, ends: this.#ends, fooled: this.#fooled, escapes: this.#escapes };
  }

  async #try(operation: FileOperation): Promise<string> {
    try {
      const prepared = await this.#scratch.prepare(operation);
      for (const path of prepared.opened) if (!/^(?:swap|file|\.$)/u.test(path)) this.#escapes.push(`opened ${path}`);
      for await (const preimage of prepared.preimages()) {
        if ((await gather(preimage.content())).includes(CANARY))
          this.#escapes.push(`${operation.kind} held the outside`);
      }
      await this.#check(operation, await prepared.commit());
      return "done";
    } catch (fault) {
      if (!isKernelError(fault)) return String(fault);
      const isOwnFault = fault.code === "EXECUTION_FAILED" && !/changed|being replaced/u.test(fault.message);
      return isOwnFault ? fault.message : fault.code;
    }
  }

  async #check(operation: FileOperation, answer: FileResult): Promise<void> {
    if (answer.kind === "read" && (await gather(answer.content)).includes(CANARY))
      this.#escapes.push("read the outside");
    if (answer.kind === "list" && answer.entries.some(({ name }) => name.endsWith("only-outside"))) {
      this.#escapes.push(`${operation.kind} listed the outside`);
    }
  }

  #readPlainly(): void {
    try {
      if (readFileSync(this.#scratch.at("swap/target"), "utf8") === CANARY) this.#fooled++;
    } catch {
      // The name is missing during a swap.
    }
  }
}

function operationsOf(lane: number): readonly FileOperation[] {
  return [
    read("swap/target"),
    read("file"),
    list("swap", { depth: 3, hidden: true }),
    list(".", { depth: 3, hidden: true, glob: "only-*" }),
    write("swap/target", INSIDE),
    write(`swap/new-${lane}/deep`, INSIDE),
    write("file", INSIDE),
    write("swap/target", INSIDE, "append"),
    write(`swap/once-${lane}`, INSIDE, "create_only"),
    edit("swap/target", INSIDE, INSIDE, true),
    edit("file", INSIDE, INSIDE),
    write("swap/victim", INSIDE),
    remove("swap/victim"),
    remove(`swap/once-${lane}`),
    remove(`swap/new-${lane}`, true),
    move("swap/target", `swap/moved-${lane}`),
    move(`swap/moved-${lane}`, "swap/target", true),
  ];
}

async function makeCanary({ directory }: ScratchWorkspace): Promise<string> {
  const canary = join(directory, "canary");
  await mkdir(canary);
  for (const name of ["target", "victim", "only-outside"]) {
    await writeFile(join(canary, name), CANARY);
    chmodSync(join(canary, name), 0o666);
  }
  // Permissions protect nothing here, so that every escape shows.
  chmodSync(canary, 0o777);
  return canary;
}

async function makePairs(scratch: ScratchWorkspace, canary: string): Promise<void> {
  await mkdir(scratch.at("swap"));
  await writeFile(scratch.at("swap/target"), INSIDE);
  await writeFile(scratch.at("file"), INSIDE);
  await symlink(canary, scratch.at("swap-link"));
  await symlink(join(canary, "target"), scratch.at("file-link"));
  await scratch.own();
}

async function startRacer(scratch: ScratchWorkspace): Promise<ChildProcess> {
  const names = ["swap", "swap-link", "file", "file-link"].map((name) => scratch.at(name));
  const racer = spawn("/usr/bin/python3", [RACER, ...names], { stdio: ["ignore", "pipe", "inherit"] });
  await once(racer.stdout, "data");
  return racer;
}

async function startWithCanary(place: WorkerPlace, directory: string, canary: string | undefined) {
  const machine = testMachine(join(directory, "machine"));
  const plan = await fileWorkerPlan(place);
  const extra = canary === undefined ? [] : [{ source: canary, target: canary, access: place.access }];
  return await spawnSandbox(
    machine,
    new SandboxFiles(machine),
    { ...plan, mounts: [...plan.mounts, ...extra] },
    FILE_WORKER_COMMAND,
  );
}
