import { KernelError } from "@narthex/contracts";
import { MAX_LISTING_BYTES } from "./config-entries.ts";
import type { GitRunner } from "./git-runner.ts";
import { type CommandOutput, toCommandOutput } from "./command-output.ts";

/** Shell scripts by name. The names are chosen by the kernel; scripts that are undefined are skipped. */
type ProbeScripts = Readonly<Record<string, string | undefined>>;
type ProbeResults<Q extends ProbeScripts> = {
  readonly [Name in keyof Q]: CommandOutput | (undefined extends Q[Name] ? undefined : never);
};

/** The file with a script's output, which later scripts can read. */
export function probeOutputFile(name: string): string {
  return `/tmp/${name}.out`;
}

/**
 * Runs several scripts in one sandbox, because creating a sandbox costs more than most scripts.
 *
 * SECURITY: the repository controls the outputs. The sizes of all outputs precede them, so that no output can imitate
 * the end of one and the start of the next.
 */
export async function probeGit<Q extends ProbeScripts>(git: GitRunner, questions: Q): Promise<ProbeResults<Q>> {
  const asked = Object.entries(questions).filter(([, text]) => text !== undefined);
  const files = asked.map(([name]) => [probeOutputFile(name), `/tmp/${name}.err`] as const);
  const texts = asked.map(
    ([, text], index) => `(\n${text}\n) </dev/null >${files[index]?.[0]} 2>${files[index]?.[1]}; codes="$codes $?"`,
  );
  const all = files.flat().join(" ");
  const script = [...texts, 'echo "$codes"', `wc -c ${all} && cat ${all} | head -c ${MAX_RESULTS_BYTES}`].join("\n");
  const { exitCode, stdout } = await git.captureCommand(["/bin/sh", "-c", script], { workingDirectory: "." });
  const answers = exitCode === 0 ? parseProbeResults(stdout, asked.length) : "something that cannot be looked at";
  if (typeof answers === "string") throw new KernelError("EXECUTION_FAILED", `the repository has ${answers}`);
  // The keys are those of `questions`: every script that ran has a result.
  return Object.fromEntries(asked.map(([name], index) => [name, answers[index]])) as ProbeResults<Q>;
}

/** Maximum for all outputs together; leaves room for the header. */
const MAX_RESULTS_BYTES = MAX_LISTING_BYTES - 4096;

/**
 * Parses a line of exit codes, a line for the size of each file and one for the total, then the files. Returns a
 * description of the problem if that fails.
 */
function parseProbeResults(told: Uint8Array, count: number): readonly CommandOutput[] | string {
  let at = 0;
  const nextLine = (): string => {
    const end = told.indexOf(0x0a, at);
    const line = new TextDecoder().decode(told.subarray(at, end));
    at = end + 1;
    return line.trim();
  };
  const codes = nextLine().split(" ").map(Number);
  const sizes = Array.from({ length: 2 * count + 1 }, () => Number.parseInt(nextLine(), 10));
  const total = sizes.pop();
  if (total !== undefined && total > MAX_RESULTS_BYTES) return `configuration of more than ${MAX_RESULTS_BYTES} bytes`;
  if (codes.length !== count || total === undefined || at + total !== told.length)
    return "configuration that could not be listed";
  const files = sizes.map((size) => told.subarray(at, (at += size)));
  return codes.map((code, index) => toCommandOutput(code, files[2 * index] ?? told, files[2 * index + 1] ?? told));
}
