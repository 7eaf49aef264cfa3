import { isKernelError } from "@narthex/contracts";
import type { Campaign, CampaignRound } from "./campaign.ts";
import { Findings } from "./chance/findings.ts";
import { type GuardRace, OUTSIDE_SECRET, startGuardRace } from "./races/guard-race.ts";

const LANES = 3;
const CHECK_EVERY = 50;
const REPLACED = "was replaced while the sandbox was made";

/**
 * From inside: is the outside there? Can what was guarded be changed? It is told on its input what that is. The mounts are
 * printed last, for the report of a failure.
 */
const LOOK = `
read -r guarded
cat .git/only-outside to-outside/only-outside 2>/dev/null
for name in $guarded; do
  case $name in
    config) (echo attack >> .git/config) 2>/dev/null && echo WROTE config ;;
    hooks) (echo attack > .git/hooks/attack) 2>/dev/null && echo WROTE hooks ;;
  esac
done
grep workspace /proc/self/mountinfo`;

/** Guarded sandboxes over a repository that another sandbox swaps for links to the outside all the time. */
export const guardRaces: Campaign = {
  name: "guard-races",
  title:
    "Programs are started over a repository whose guarded paths a sandbox that no kernel would let run beside them swaps for links, renames and puts back all the time: none ever runs with a directory of the host mounted, or with an unguarded repository.",
  unit: "programs",
  sample: 80,
  full: 100_000,
  async run(round) {
    const findings = new Findings();
    const race = await startGuardRace(round.seed);
    const state = { started: 0, done: 0, swapped: 0 };
    try {
      await Promise.all(Array.from({ length: LANES }, () => runLane(race, round, findings, state)));
      for (const change of await race.changes()) findings.fail(change);
    } finally {
      await race.close();
    }
    findings.fact("mount points that bubblewrap made outside, which the kernel's gate and lock prevent", race.made);
    findings.fact(
      "times that bubblewrap itself emptied the repository's configuration, prevented likewise",
      race.emptied,
    );
    findings.fact("swaps that came between the look and the mount", state.swapped);
    if (state.swapped === 0) findings.fail("no swap ever came in between, so there was no race");
    return findings.outcome(state.done);
  },
};

interface RaceState {
  started: number;
  done: number;
  swapped: number;
}

async function runLane(race: GuardRace, round: CampaignRound, findings: Findings, state: RaceState): Promise<void> {
  while (state.started < round.count && !race.isOver) {
    const number = ++state.started;
    const end = await startOne(race);
    if (end.fault?.includes(REPLACED)) state.swapped++;
    await judge(race, findings, number, end);
    state.done++;
    round.progress(state.done);
    if (number % CHECK_EVERY === 0) for (const change of await race.changes()) findings.fail(`at ${number}: ${change}`);
  }
}

interface GuardedEnd {
  /** What was there when it was looked for, and so had to be guarded. */
  readonly guarded: readonly string[];
  readonly printed: string;
  readonly fault: string | undefined;
}

async function startOne({ programs, workspace, recorder }: GuardRace): Promise<GuardedEnd> {
  const { signal } = new AbortController();
  const place = { sessionId: "race", workspace, access: "write", mayFork: true, keepsProtected: true } as const;
  const command = ["/bin/sh", "-c", LOOK];
  let guarded: readonly string[] = [];
  try {
    const program = await programs.start(place, { command, workingDirectory: "." }, signal);
    guarded = recorder.guardedFor(signal);
    await program.write(Buffer.from(`${guarded.join(" ")}\n`));
    program.endInput();
    const [printed] = await Promise.all([textOf(program.stdout), textOf(program.stderr), program.ended]);
    return { guarded, printed, fault: undefined };
  } catch (fault) {
    return { guarded, printed: "", fault: isKernelError(fault) ? `${fault.code}: ${fault.message}` : String(fault) };
  }
}

async function judge(
  race: GuardRace,
  findings: Findings,
  number: number,
  { guarded, printed, fault }: GuardedEnd,
): Promise<void> {
  if (printed.includes(OUTSIDE_SECRET)) findings.fail(`program ${number} had a directory of the host`);
  if (/WROTE (?:config|hooks)/.test(printed)) {
    // While the repository is renamed, another sandbox's bubblewrap can put an empty one in its place to mount over.
    if (await race.isWritten()) findings.fail(`program ${number} ran with ${guarded.join()} guarded: ${printed}`);
    else findings.count("wrote into a stand-in, not into the repository");
  }
  if (fault !== undefined) findings.count(`refused: ${kindOf(fault)}`);
  else
    findings.count(`ran, with ${guarded.length === 0 ? "nothing there to guard" : `${guarded.join(" and ")} guarded`}`);
}

function kindOf(fault: string): string {
  if (fault.includes(REPLACED)) return "a guarded path was replaced";
  if (fault.startsWith("SANDBOX_ERROR")) return "bubblewrap failed";
  return fault.replace(/'[^']*'/g, "a path");
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += Buffer.from(chunk).toString("latin1");
  return text;
}
