import { create, encode, type ToolRequest, ToolRequestSchema } from "@narthex/contracts";
import type { Chance } from "../chance/chance.ts";
import { mutateJson } from "../json/mutate-json.ts";
import { mutateMessage } from "../wire/mutate-message.ts";
import { PREFACE, predictFrame, predictStream, type StreamFate } from "./door-model.ts";
import type { FrameCorpus } from "./frame-corpus.ts";

/** Everything one connection sends, and what has to come of it. */
export interface FuzzedStream {
  readonly bytes: Uint8Array;
  /** Cut here and there, in order. */
  readonly chunks: readonly Uint8Array[];
  readonly fate: StreamFate;
  /** By request id: calls that nobody touched, and the result each must have. */
  readonly results: ReadonlyMap<string, string>;
}

const MOST_FRAMES = 96;
const MOST_BYTES = 200_000;
const LARGE_BYTES = 60_000;

/** What every stream to one kernel is made with. */
export interface StreamSource {
  readonly corpus: FrameCorpus;
  readonly token: string;
}

/** Tries until there is one of which it is certain what has to become of it. */
export function anyStream(makeChance: (attempt: number) => Chance, source: StreamSource): FuzzedStream {
  for (let attempt = 0; ; attempt++) {
    const stream = tryStream(makeChance(attempt), source);
    if (stream !== undefined) return stream;
  }
}

function tryStream(chance: Chance, source: StreamSource): FuzzedStream | undefined {
  const results = new Map<string, string>();
  const mayBreak = chance.oneIn(3);
  const parts: Uint8Array[] = [chance.oneIn(200) ? mutateMessage(chance, PREFACE, PREFACE) : PREFACE];
  const bodies: Uint8Array[] = [];
  for (let left = 1 + chance.below(MOST_FRAMES); left > 0; left--) {
    const body = anyBody(chance, source, { mayBreak, bodies, results });
    bodies.push(body);
    parts.push(mayBreak && chance.oneIn(40) ? lyingFrame(chance, body) : frameOf(body));
  }
  const whole = Buffer.concat(parts);
  const bytes = mayBreak && chance.oneIn(6) ? whole.subarray(0, chance.below(whole.length + 1)) : whole;
  const fate = predictStream(bytes, source.token);
  if (fate.ambiguous || bytes.length > MOST_BYTES) return undefined;
  return { bytes, chunks: cut(chance, bytes), fate, results };
}

interface BodyOptions {
  /** Some frames may end the connection. */
  readonly mayBreak: boolean;
  readonly bodies: readonly Uint8Array[];
  readonly results: Map<string, string>;
}

function anyBody(chance: Chance, source: StreamSource, { mayBreak, bodies, results }: BodyOptions): Uint8Array {
  if (bodies.length > 0 && chance.oneIn(30)) return chance.pick(bodies);
  if (chance.oneIn(3)) return validCall(chance, source, results);
  const base = anyRequest(chance, source);
  // Never a part of a valid call: its id stands for that call alone.
  const other = anyRequest(chance, source);
  const changed = chance.oneIn(4) ? base : mutateMessage(chance, base, other);
  if (changed.length === 0) return base;
  return !mayBreak && predictFrame(changed, source.token).fate !== "answered" ? base : changed;
}

/** A call that must succeed, whatever else the connection carries. */
function validCall(chance: Chance, { corpus, token }: StreamSource, results: Map<string, string>): Uint8Array {
  const requestId = `valid-${anyId(chance)}`;
  const large = chance.oneIn(50) ? JSON.stringify("x".repeat(chance.below(LARGE_BYTES))) : undefined;
  const { text, canonical } =
    large === undefined ? chance.pick(corpus.inputs) : { text: Buffer.from(large), canonical: large };
  results.set(requestId, canonical);
  return encodeCall(requestId, token, "echo", text);
}

function anyRequest(chance: Chance, { corpus, token }: StreamSource): Uint8Array {
  const requestId = `fuzz-${anyId(chance)}`;
  if (chance.oneIn(2)) {
    const { text } = chance.pick(corpus.inputs);
    const input = chance.oneIn(2) ? text : mutateJson(chance, text, chance.pick(corpus.inputs).text);
    return encodeCall(
      requestId,
      token,
      chance.pick(["echo", "echo", "hash", "artifact_get", "nothing", "Echo\0"]),
      input,
    );
  }
  const sessionToken = chance.oneIn(5) ? "ntx_unknown" : token;
  return encode(create(ToolRequestSchema, { requestId, sessionToken, tool: chance.pick(corpus.tools) }));
}

function encodeCall(requestId: string, sessionToken: string, name: string, input: Uint8Array): Uint8Array {
  const tool: ToolRequest["tool"] = {
    case: "call",
    value: { $typeName: "narthex.v1.ToolCall", name, version: "", input },
  };
  return encode(create(ToolRequestSchema, { requestId, sessionToken, tool }));
}

/** Long enough that no change makes another's. */
function anyId(chance: Chance): string {
  return Buffer.from(chance.bytes(12)).toString("hex");
}

function frameOf(body: Uint8Array, length = body.length): Uint8Array {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(length);
  return Buffer.concat([head, body]);
}

function lyingFrame(chance: Chance, body: Uint8Array): Uint8Array {
  const lengths = [
    0,
    1,
    body.length + 1,
    body.length + 500,
    Math.max(0, body.length - 1),
    2 ** 27 + 1,
    2 ** 32 - 1,
    2 ** 20,
  ];
  return chance.oneIn(4) ? chance.bytes(1 + chance.below(20)) : frameOf(body, chance.pick(lengths));
}

function cut(chance: Chance, bytes: Uint8Array): Uint8Array[] {
  const cuts = chance.oneIn(2) ? [] : chance.several(12, () => chance.below(bytes.length + 1)).sort((a, b) => a - b);
  return [...cuts, bytes.length].map((end, index) => bytes.subarray(cuts[index - 1] ?? 0, end));
}
