import { DecodeError, decode, MAX_FRAME_BYTES, MAX_ID_LEN, peekRequestHead, validate } from "@narthex/contracts";

/** What has to become of one frame. */
export type Fate =
  | { readonly fate: "answered"; readonly id: string; readonly answer: ExpectedAnswer }
  /** One INVALID_REQUEST without an id, then the connection closes. */
  | { readonly fate: "undecodable" }
  | { readonly fate: "refused" };

/** `documented`: the session's own business; any code that is in the tables. */
export type ExpectedAnswer = "INVALID_REQUEST" | "SESSION_UNKNOWN" | "documented";

export interface StreamFate {
  readonly opening: "ok" | "wrong" | "unfinished";
  /** In the order in which they are read. Nothing is read behind one that is refused. */
  readonly frames: readonly Fate[];
  /** Bytes are left that are no whole frame. */
  readonly endsInside: boolean;
  /** What becomes of it depends on how the bytes arrive: not used. */
  readonly ambiguous: boolean;
}

export const PREFACE = Buffer.from("NTX1");
/** A longer frame is looked at before it is complete. */
const LOOKED_AT_BYTES = 8 * 1024;
const HEAD_BYTES = 4 * 1024;

/**
 * What the framed door has to make of a connection's bytes, whatever the pieces they come in.
 * SPEC: docs/formats/wire.md, "The framed door".
 */
export function predictStream(bytes: Uint8Array, token: string): StreamFate {
  const opening = openingOf(bytes);
  const frames: Fate[] = [];
  let at = PREFACE.length;
  let ambiguous = false;
  const result = (endsInside: boolean): StreamFate => ({ opening, frames, endsInside, ambiguous });
  if (opening !== "ok") return result(false);
  for (;;) {
    if (bytes.length - at < 4) return result(bytes.length > at);
    const length = Buffer.from(bytes.buffer, bytes.byteOffset + at, 4).readUInt32BE();
    at += 4;
    if (length === 0 || length > MAX_FRAME_BYTES) {
      frames.push({ fate: "refused" });
      return result(false);
    }
    const body = bytes.subarray(at, at + length);
    if (body.length > LOOKED_AT_BYTES && headOf(body).token !== token) ambiguous = true;
    if (body.length < length) return result(true);
    frames.push(predictFrame(body, token));
    at += length;
  }
}

function openingOf(bytes: Uint8Array): StreamFate["opening"] {
  const seen = Buffer.from(bytes.subarray(0, PREFACE.length));
  if (!seen.equals(PREFACE.subarray(0, seen.length))) return "wrong";
  return seen.length < PREFACE.length ? "unfinished" : "ok";
}

export function predictFrame(body: Uint8Array, token: string): Fate {
  try {
    const request = decode(body);
    const answer =
      validate(request).length > 0
        ? "INVALID_REQUEST"
        : request.sessionToken === token
          ? "documented"
          : "SESSION_UNKNOWN";
    return { fate: "answered", id: request.requestId, answer };
  } catch (fault) {
    if (!(fault instanceof DecodeError)) throw fault;
    if (fault.violations.some(({ rule }) => rule === "malformed")) return { fate: "undecodable" };
    const { id } = headOf(body);
    return { fate: "answered", id: id.length <= MAX_ID_LEN ? id : "", answer: "INVALID_REQUEST" };
  }
}

function headOf(body: Uint8Array): { readonly id: string; readonly token: string } {
  const head = peekRequestHead(body);
  const early = peekRequestHead(body.subarray(0, HEAD_BYTES));
  return { id: head?.requestId ?? "", token: early?.sessionToken ?? "" };
}
