import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestHome, type Serving, type TestHome, textOf } from "../test/cli/home.ts";
import type { Campaign, CampaignRound } from "./campaign.ts";
import { Chance } from "./chance/chance.ts";
import { Findings } from "./chance/findings.ts";
import { anyStream, type StreamSource } from "./frames/any-stream.ts";
import { makeFrameCorpus } from "./frames/frame-corpus.ts";
import { answersToWaitFor, codeOf, judgeAnswers } from "./frames/judge-answers.ts";
import { sendStream } from "./frames/send-stream.ts";

const CONNECTIONS = 16;
/** Then the ledger is verified, and a new kernel begins with a new one. */
const FRAMES_PER_KERNEL = 250_000;
const MOST_RESIDENT_BYTES = 1024 * 1024 * 1024;
/** Attempts at one stream that are not used have streams of chance of their own. */
const ATTEMPTS = 1000;

/** Damaged frames at the framed door of a kernel in a process of its own. */
export const frames: Campaign = {
  name: "frames",
  title:
    "Fuzzed frames over many connections, cut anywhere, valid calls among them: each gets exactly one answer under its id with a documented code, or the documented refusal and the end of its connection; the kernel stays, small, and its ledger is sound.",
  unit: "frames",
  sample: 500,
  full: 1_000_000,
  async run(round) {
    const findings = new Findings();
    const state = { frames: 0, streams: 0, startBytes: 0, peakBytes: 0, endBytes: 0, records: 0 };
    while (state.frames < round.count) {
      const enough = Math.min(round.count, state.frames + FRAMES_PER_KERNEL);
      await fuzzKernel(round, findings, state, enough);
    }
    findings.fact("connections", state.streams);
    const megabytes = [state.startBytes, state.peakBytes, state.endBytes].map((bytes) =>
      Math.ceil(bytes / 1024 / 1024),
    );
    findings.fact("resident memory of a kernel at first, at most and at last, MB", megabytes.join(", "));
    findings.fact("records in the ledgers, all verified", state.records);
    return findings.outcome(state.frames);
  },
};

interface FuzzState {
  frames: number;
  streams: number;
  startBytes: number;
  peakBytes: number;
  endBytes: number;
  records: number;
}

async function fuzzKernel(round: CampaignRound, findings: Findings, state: FuzzState, enough: number): Promise<void> {
  const home = await createTestHome();
  // Nobody is there to be asked.
  await mkdir(home.home, { mode: 0o700 });
  await writeFile(join(home.home, "narthex.yaml"), "timeouts: { approval_wait_ms: 1 }\n", { mode: 0o600 });
  const corpus = makeFrameCorpus(round.seed);
  try {
    const serving = await home.serve();
    const { token, id } = await home.openSession();
    state.startBytes = Math.max(state.startBytes, await residentBytes(serving));
    const work = async (): Promise<void> => {
      while (state.frames < enough && serving.child.exitCode === null && serving.child.signalCode === null) {
        await fuzzConnection(round, findings, state, { serving, source: { corpus, token } });
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    await assertWell(home, serving, id, state);
  } catch (fault) {
    round.progress(Math.min(state.frames, round.count));
    findings.fail(fault instanceof Error ? fault.message : String(fault));
    state.frames = Math.max(state.frames, enough);
  } finally {
    await home.remove();
  }
}

async function fuzzConnection(
  round: CampaignRound,
  findings: Findings,
  state: FuzzState,
  { serving, source }: { readonly serving: Serving; readonly source: StreamSource },
): Promise<void> {
  const number = state.streams++;
  const stream = anyStream((attempt) => new Chance(round.seed, number * ATTEMPTS + attempt), source);
  const path = textOf(serving.ready["framed_socket"]);
  const received = await sendStream(path, stream.chunks, answersToWaitFor(stream.fate));
  findings.check(
    () => `connection ${number} (${stream.bytes.length} bytes in ${stream.chunks.length} chunks)`,
    () => judgeAnswers(stream, received),
  );
  for (const answer of received.answers) findings.count(`answered ${codeOf(answer)}`);
  for (const { fate } of stream.fate.frames) findings.count(`frames to be ${fate}`);
  if (stream.fate.endsInside) findings.count("connections that end inside a frame");
  state.frames += stream.fate.frames.length;
  state.peakBytes = number % 64 === 0 ? Math.max(state.peakBytes, await residentBytes(serving)) : state.peakBytes;
  round.progress(Math.min(state.frames, round.count));
}

/** The kernel is still there, answers, has not grown, ends when asked to, and its ledger is sound. */
async function assertWell(home: TestHome, serving: Serving, session: string, state: FuzzState): Promise<void> {
  assert.equal(serving.child.exitCode, null, "the kernel ended");
  const bytes = await residentBytes(serving);
  assert.ok(bytes < MOST_RESIDENT_BYTES, `the kernel holds ${bytes} bytes`);
  state.peakBytes = Math.max(state.peakBytes, bytes);
  state.endBytes = Math.max(state.endBytes, bytes);
  assert.equal((await home.ask(["call", "echo", "1", "--session", session]))["status"], "success");
  const report = await home.ask(["ledger", "verify"]);
  assert.deepEqual([report["intact"], report["complete"]], [true, true], JSON.stringify(report["problems"]));
  state.records += Number(report["records"]);
  assert.equal(await serving.stop(), 0, "the kernel did not end well");
}

async function residentBytes({ child }: Serving): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}
