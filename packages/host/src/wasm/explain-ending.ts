import type { AbiProblem, WasmEnd, WasmEnding, WasmTrap, WasmUsage } from "@narthex/kernel";
import { WASM_PAGE_BYTES } from "@narthex/kernel";
import type { HostEnding, HostReply, ProblemWord, TrapWord } from "./worker/messages.ts";

/** SECURITY: a host can only choose from a fixed list of words; the text shown to people is written here. */
const TRAPS: Readonly<Record<TrapWord, WasmTrap>> = {
  unreachable: "unreachable code was reached",
  division: "a number was divided by zero",
  overflow: "an integer overflowed",
  memory: "memory was used that is not there",
  table: "a table was used beyond its end",
  signature: "a function was called by another type",
  segment: "a segment does not fit",
  null: "a reference was null",
  other: "its code was ended",
};

const PROBLEMS: Readonly<Record<ProblemWord, AbiProblem>> = {
  "no-memory": "it exports no memory",
  "no-alloc": "it exports no function `alloc` that takes and gives an i32",
  "no-run": "it exports no function `run` that takes two i32 and gives an i64",
  "alloc-place": "`alloc` gave a place outside of its memory",
  "run-place": "`run` gave a place outside of its memory",
  "request-place": "it handed the host a place outside of its memory",
  "answer-length": "its answer is too long",
};

/** Converts the end of a call to the kernel's terms. */
export function explainEnding(
  reply: Extract<HostReply, { type: "ended" }>,
  payload: Uint8Array,
  elapsedMs: number,
): WasmEnd {
  return { ending: endingOf(reply, payload), usage: useOf(reply, Math.ceil(elapsedMs)) };
}

/** SECURITY: a host may report anything; one thread cannot have used more CPU time than elapsed. */
function useOf(reply: Extract<HostReply, { type: "ended" }>, elapsedMs: number): WasmUsage {
  const { use } = reply;
  if (use === undefined) return { fuel: 0, memoryBytes: 0, cpuMs: elapsedMs, isPartial: true };
  const isPartial = reply.how === "stopped" || (reply.how === "exceeded" && reply.limit === "cpu");
  const { fuel, memoryPages } = use;
  return { fuel, memoryBytes: memoryPages * WASM_PAGE_BYTES, cpuMs: Math.min(use.cpuMs, elapsedMs), isPartial };
}

function endingOf(ending: HostEnding, payload: Uint8Array): WasmEnding {
  switch (ending.how) {
    case "answered":
      return { kind: "answered", output: payload };
    case "failed":
      return { kind: "failed", text: payload };
    case "stopped":
    case "starved":
      return { kind: ending.how };
    case "exceeded":
      return { kind: "exceeded", limit: ending.limit, allowed: ending.allowed, peak: ending.peak };
    case "trapped":
      return { kind: "trapped", trap: TRAPS[ending.trap] };
    case "broken":
      return { kind: "broken", problem: PROBLEMS[ending.problem] };
  }
}
