import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { createKernel, verifyLedger } from "narthex";
import {
  listIn,
  type ScriptedStream,
  startProvider,
} from "../../packages/agent/src/model/testing/scripted-provider.ts";
import { kernelProgram } from "../built/kernel-program.ts";
import { sampled } from "../sampled.ts";
import { runTheAgent } from "./agents/agent-run.ts";

const PROGRAM = new URL("./agents/agent-process.ts", import.meta.url);
const ALL = ["seen 1", "done 1", "done 2", "done 3"];

type Place = readonly [place: string, times: number, saidBefore: number, finds: "nothing" | "unknown" | "question"];

/** Where the process is killed when it comes there for the n-th time, the messages kept by then, and what is left open. */
const ALL_PLACES: readonly Place[] = [
  ["text", 1, 0, "nothing"],
  ["after-turn", 1, 1, "nothing"],
  ["call", 2, 1, "nothing"],
  ["invoke", 1, 1, "unknown"],
  ["in-tool", 1, 1, "unknown"],
  ["reply", 1, 1, "nothing"],
  ["after-result", 2, 1, "nothing"],
  ["asked", 1, 2, "question"],
  ["after-turn", 3, 3, "nothing"],
];
const PLACES = sampled(ALL_PLACES, 5);

function message(delta: JsonObject, finish_reason: string): ScriptedStream {
  const chunk = (piece: JsonObject, finish: string | null): JsonObject => ({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "model",
    choices: [{ index: 0, delta: piece, finish_reason: finish }],
  });
  return [
    chunk({ role: "assistant", content: "Well. " }, null),
    chunk(delta, null),
    chunk({}, finish_reason),
    "[DONE]",
  ];
}

function calling(...calls: readonly (readonly [name: string, n: number])[]): ScriptedStream {
  const tool_calls = calls.map(([name, n], index) => ({
    index,
    id: `call_${n}_${name}`,
    type: "function",
    function: { name, arguments: JSON.stringify({ n }) },
  }));
  return message({ tool_calls }, "tool_calls");
}

const SCRIPT = [
  calling(["look", 1], ["effect", 1], ["effect", 2]),
  calling(["asked_effect", 3]),
  message({ content: "Done." }, "stop"),
];

/** Says what comes next in the conversation it is sent, whoever sends it. */
const answer = (request: JsonObject): ScriptedStream =>
  SCRIPT[listIn(request, "messages").filter(({ role }) => role === "assistant").length] ?? [];

const root = await mkdtemp(join(tmpdir(), "narthex-agents-"));
const [home, workspace] = [join(root, "home"), join(root, "workspace")];
const tokens = await openSessions(PLACES.length);
const provider = await startProvider(answer);
after(async () => {
  await provider[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true, maxRetries: 5 });
});

async function openSessions(count: number): Promise<string[]> {
  await mkdir(workspace);
  const kernel = await createKernel({ data: home });
  try {
    const lease = { tool_patterns: ["look", "effect", "asked_effect"] };
    const sessions = Array.from({ length: count }, () => kernel.session({ workspace, lease }));
    return (await Promise.all(sessions)).map(({ token }) => token);
  } finally {
    await kernel.close();
  }
}

describe("a killed agent process", { timeout: 300_000 }, () => {
  for (const [round, [place, times, saidBefore, finds]] of PLACES.entries()) {
    it(`at ${place} ${times}: the next one runs to the end, and nothing is done twice`, async () => {
      const [transcript, notes] = [join(root, `transcript-${round}`), join(root, `notes-${round}`)];
      const story = { home, token: tokens[round] ?? "", transcript, notes, provider: provider.url };
      const words = [home, story.token, transcript, notes, provider.url, place, String(times)];
      const child = spawn(process.execPath, kernelProgram(PROGRAM, ...words), {
        stdio: ["ignore", "inherit", "inherit"],
      });
      const [code, signal] = await once(child, "exit");
      assert.equal(signal, "SIGKILL", `${place}: ${code}`);

      const asked = provider.requests.length;
      const result = await runTheAgent({ ...story, reach: () => undefined });
      assert.deepEqual([result.end, result.text, result.turns], ["answered", "Well. Done.", 3], String(result.error));
      // What the model had said is not asked of it again; a run that had ended asks nothing at all.
      assert.equal(provider.requests.length - asked, SCRIPT.length - saidBefore);
      const results = result.messages.flatMap((told) => (told.role === "tool" ? [told.text] : []));
      if (finds === "unknown") assert.match(results[1] ?? "", /^OUTCOME_UNKNOWN: /);
      assert.deepEqual(results, finds === "unknown" ? ALL.with(1, results[1] ?? "") : ALL);
      const happened = (await readFile(notes, "utf8")).trim().split("\n");
      const effects = happened.filter((what) => what !== "asked");
      assert.deepEqual(effects, place === "invoke" ? ["effect 2", "effect 3"] : ["effect 1", "effect 2", "effect 3"]);
      assert.equal(happened.length - effects.length, finds === "question" ? 2 : 1);
    });
  }

  it("leaves a sound ledger, and only calls of unknown outcome open", async () => {
    const kernel = await createKernel({ data: home });
    try {
      const { intact, complete } = await verifyLedger(kernel.ledgerSource());
      assert.deepEqual([intact, complete], [true, true]);
      const unknown = PLACES.filter(([, , , finds]) => finds === "unknown");
      assert.equal((await kernel.listIntents()).length, unknown.length);
    } finally {
      await kernel.close();
    }
  });
});
