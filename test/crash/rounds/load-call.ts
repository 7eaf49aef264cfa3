import type { JsonObject } from "@narthex/contracts";
import { type SeededRandom, seededRandom } from "./seeded-random.ts";

/** One call of the load, the same whoever plans it: a repeat is made from its id alone. */
export interface LoadCall {
  readonly requestId: string;
  /** Which of the sessions makes it. */
  readonly session: number;
  readonly tool: string;
  readonly input: JsonObject;
  readonly dedupeKey?: string;
  /** What it does to the world outside; several calls under one key do it once. */
  readonly effect?: string;
  /** A text to store before: the call publishes it. */
  readonly put?: string;
}

export const LOAD_SESSIONS = 4;
/** Calls that share a key, and a stretch within which calls are repeated. */
const NEIGHBOURS = 12;

type LoadKind = "echo" | "stamp" | "keyed" | "note" | "expand" | "trickle" | "large-input" | "artifact" | "repeat";

/** How often each is picked. */
const SHARES: readonly (readonly [LoadKind, number])[] = [
  ["echo", 5],
  ["stamp", 3],
  ["keyed", 2],
  ["note", 3],
  ["expand", 1],
  ["trickle", 1],
  ["large-input", 1],
  ["artifact", 1],
  ["repeat", 2],
];
const KINDS = SHARES.flatMap(([kind, share]) => Array.from({ length: share }, () => kind));

/** The n-th call of a round. */
export function planCall(seed: number, round: number, number: number): LoadCall {
  const requestId = `r${round}-${number}`;
  const random = seededRandom(seed, requestId);
  const session = random.below(LOAD_SESSIONS);
  const kind = KINDS[random.below(KINDS.length)] ?? "echo";
  if (kind === "repeat" && number > 0) {
    return planCall(seed, round, Math.max(0, number - 1 - random.below(NEIGHBOURS)));
  }
  return { requestId, session, ...contentOf(kind, round, number, random) };
}

/** The call that has this id. */
export function callOf(seed: number, requestId: string): LoadCall {
  const [, round, number] = /^r(\d+)-(\d+)$/.exec(requestId) ?? [];
  return planCall(seed, Number(round), Number(number));
}

type Content = Partial<Pick<LoadCall, "session">> & Omit<LoadCall, "requestId" | "session">;

function contentOf(kind: LoadKind, round: number, number: number, random: SeededRandom): Content {
  const name = `${round}-${number}`;
  switch (kind) {
    case "stamp":
    case "note":
      return { tool: kind, input: { effect: `${kind}-${name}` }, effect: `${kind}-${name}` };
    case "keyed": {
      const group = Math.floor(number / NEIGHBOURS);
      const effect = `keyed-${round}-${group}`;
      const [session, dedupeKey] = [group % LOAD_SESSIONS, `key-${round}-${group}`];
      return { session, tool: group % 2 === 0 ? "stamp" : "note", input: { effect }, effect, dedupeKey };
    }
    case "expand":
    case "trickle":
      // Few texts, so that the same content is often written by several calls at once.
      return { tool: kind, input: { text: `${kind} ${random.below(3)} `, bytes: 70_000 + 1000 * random.below(150) } };
    case "large-input":
      return { tool: "echo", input: { text: `${name} `.repeat(12_000) } };
    case "artifact":
      return {
        tool: "artifact_publish",
        input: { artifact_id: `a-${name}`, category: "load" },
        put: putText(name, random),
      };
    default:
      return { tool: "echo", input: { name, number } };
  }
}

/** Every other one too long for a record's own row. */
function putText(name: string, random: SeededRandom): string {
  return `${name} `.repeat(random.below(2) === 0 ? 20 : 15_000);
}
