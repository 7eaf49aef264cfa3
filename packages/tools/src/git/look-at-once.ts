import { KernelError } from "@narthex/contracts";
import { MAX_LISTING_BYTES } from "./config-entries.ts";
import type { GitRunner } from "./git-runner.ts";
import { type Looked, lookedOf } from "./looked.ts";

/** Texts for a shell, by names of our own; those that are undefined are not asked. */
type Questions = Readonly<Record<string, string | undefined>>;
type Answers<Q extends Questions> = {
  readonly [Name in keyof Q]: Looked | (undefined extends Q[Name] ? undefined : never);
};

/** Where a question's answer lies for those that come after it. */
export function answerFile(name: string): string {
  return `/tmp/${name}.out`;
}

/**
 * Asks several questions in one sandbox: to make one costs more than most answers.
 *
 * SECURITY: answers hold what a repository says. How long each is stands before all of them, so none can pass itself off
 * as the end of one and the start of the next.
 */
export async function lookAtOnce<Q extends Questions>(git: GitRunner, questions: Q): Promise<Answers<Q>> {
  const asked = Object.entries(questions).filter(([, text]) => text !== undefined);
  const files = asked.map(([name]) => [answerFile(name), `/tmp/${name}.err`] as const);
  const texts = asked.map(
    ([, text], index) => `(\n${text}\n) </dev/null >${files[index]?.[0]} 2>${files[index]?.[1]}; codes="$codes $?"`,
  );
  const all = files.flat().join(" ");
  const script = [...texts, 'echo "$codes"', `wc -c ${all} && cat ${all}`].join("\n");
  const { exitCode, stdout } = await git.script(["/bin/sh", "-c", script], {
    workingDirectory: ".",
    maxOutputBytes: asked.length * MAX_LISTING_BYTES,
  });
  const answers = exitCode === 0 ? readAnswers(stdout, asked.length) : undefined;
  if (answers === undefined) throw new KernelError("EXECUTION_FAILED", "the repository could not be looked at");
  // Read off the questions: each that was asked has an answer.
  return Object.fromEntries(asked.map(([name], index) => [name, answers[index]])) as Answers<Q>;
}

/** A line of exit codes, one for the size of each file and one for all sizes, then the files; undefined if it is not so. */
function readAnswers(told: Uint8Array, count: number): readonly Looked[] | undefined {
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
  if (codes.length !== count || total === undefined || at + total !== told.length) return undefined;
  const files = sizes.map((size) => told.subarray(at, (at += size)));
  return codes.map((code, index) => lookedOf(code, files[2 * index] ?? told, files[2 * index + 1] ?? told));
}
